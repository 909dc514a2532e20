/** A file of networks that cannot be used. */
import { Data } from "effect";

/** The file cannot be read, or something in it is wrong. Its text has no address in it. */
export class DamagedFile extends Data.TaggedError("DamagedFile")<{
  readonly path: string;
  /** What is wrong, such as `line 3 is wrong`. */
  readonly found: string;
  readonly expected: string;
}> {
  override readonly message = `Cannot use "${this.path}": ${this.found}, expected ${this.expected}`;
}

/** The file could not be opened or read to its end. */
export const unreadable = (path: string, error: unknown): DamagedFile => {
  const { code } = error as NodeJS.ErrnoException;
  return new DamagedFile({
    path,
    found: `it cannot be read${code === undefined ? "" : `: ${code}`}`,
    expected: "a file that can be read",
  });
};
