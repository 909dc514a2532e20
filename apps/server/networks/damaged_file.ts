import { Data } from "effect";

/** The file cannot be read, or its content is invalid. The message contains no address. */
export class DamagedFile extends Data.TaggedError("DamagedFile")<{
  readonly path: string;
  /** The problem, such as `line 3 is wrong`. */
  readonly found: string;
  readonly expected: string;
}> {
  override readonly message = `Cannot use "${this.path}": ${this.found}, expected ${this.expected}`;
}

export const unreadable = (path: string, error: unknown): DamagedFile => {
  const { code } = error as NodeJS.ErrnoException;
  return new DamagedFile({
    path,
    found: `it cannot be read${code === undefined ? "" : `: ${code}`}`,
    expected: "a file that can be read",
  });
};
