/** What the bench compares. */
import type { Databases } from "./databases.ts";
import type { RunningServer } from "./server_process.ts";
import type { Work } from "./workloads.ts";

/** One of several that do the same. */
export interface Contender {
  readonly name: string;
  /** What it is asked; left out, everything. */
  readonly works?: ReadonlyArray<Work>;
  /** Whether its answers are those of ours. */
  readonly isAlike: boolean;
  /** Starts it; for the first time, its storage is to be filled. */
  readonly start: (how: {
    readonly isFirst: boolean;
    readonly nodeOptions?: ReadonlyArray<string>;
  }) => Promise<RunningServer>;
}

/** What the contenders need. */
export interface Places {
  /** Where files may be kept. */
  readonly folder: string;
  /** The fixture in full, and the platforms alone. */
  readonly fixtures: { readonly full: string; readonly platform: string };
  /** Null where no deployment needs any. */
  readonly databases: Databases | null;
  /** Another checkout of ours, to be compared too. */
  readonly beside: string | undefined;
}
