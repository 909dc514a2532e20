import type { ChatId } from "../ids.ts";
import type { LinkLine } from "./formats/link_format.ts";
import type { ImportRefused } from "./import_files.ts";
import type { ImportOutcome } from "./import_outcome.ts";
import type { ImportProgress } from "./link_import.ts";

/** How far the import of an uploaded file is. */
export type ImportState =
  | {
      readonly _tag: "Preview";
      readonly outcome: ImportOutcome;
      readonly sample: ReadonlyArray<LinkLine>;
      /** The first chat users of the file; left out of previews from before they were stored. */
      readonly chatIds?: ReadonlyArray<ChatId>;
    }
  | { readonly _tag: "Running"; readonly progress: ImportProgress }
  | { readonly _tag: "Done"; readonly outcome: ImportOutcome }
  | { readonly _tag: "Failed"; readonly reason: ImportFailure };

/** `storage`: the storage did not answer. */
export type ImportFailure = ImportRefused["reason"] | "storage";
