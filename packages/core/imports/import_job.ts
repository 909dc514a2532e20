/** An import of an uploaded file, as its pages see it. */

import { Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { Pid } from "../ids.ts";
import type { ChangedLinks } from "./changed_links.ts";
import type { ReadOptions } from "./formats/link_format.ts";
import type { ConflictChoice } from "./import_batch.ts";
import type { ImportState } from "./import_state.ts";
import type { StoredImport } from "./upload_store.ts";

/** The fields of an import that are stored as JSON. */
interface Details {
  readonly origin: WriteOrigin;
  readonly fileName: string;
  readonly onConflict: ConflictChoice;
  readonly options: ReadOptions;
  readonly changed: ChangedLinks;
  /** The number of rows; left out of imports from before it was stored. */
  readonly rows?: number;
  readonly state: ImportState;
}

export interface ImportJob extends Details {
  readonly id: string;
  readonly account: string;
  readonly pid: Pid;
}

export type NewImport = Pick<ImportJob, "pid" | "onConflict" | "options" | "fileName">;

export const begun: ImportState = {
  _tag: "Running",
  progress: { phase: "checking", rows: 0, total: null },
};

export const detailsOf = ({ id: _, account: __, pid: ___, ...details }: ImportJob): string =>
  JSON.stringify(details satisfies Details);

/** None while the file is read. */
export const jobOf = ({ id, account, pid, phase, details }: StoredImport): Option.Option<ImportJob> => {
  if (pid === null) return Option.none();
  const job: ImportJob = { ...(JSON.parse(details) as Details), id, account, pid };
  // A node may have died after the start, and before it stored the first progress.
  return Option.some(phase === "running" && job.state._tag === "Preview" ? { ...job, state: begun } : job);
};
