import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder in which the workers of a run note the pages that they check, by the ID of the run's process. */
export const checkedPagesOf = (run: number): string => join(tmpdir(), `accountlink-checked-pages-${run}`);
