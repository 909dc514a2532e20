/** Files of the operator, which are read again when they change. */
import { stat } from "node:fs/promises";
import { Data, Effect, Schedule, type Scope } from "effect";

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

/**
 * Reads the file now, and again some seconds after each change until the scope closes. If the new file cannot be
 * used, the previous content stays in use, with one warning per change. The file is polled with `stat`, since
 * watching does not report changes made through links, mounts and network file systems.
 *
 * @returns the content that was last read
 */
export const reloadedFile = Effect.fnUntraced(function* <A>(
  path: string,
  read: (path: string) => Effect.Effect<A, DamagedFile>,
): Effect.fn.Return<() => A, DamagedFile, Scope.Scope> {
  let loaded = yield* stampOf(path);
  let seen = loaded;
  let current = yield* read(path);
  const look = Effect.gen(function* () {
    const before = seen;
    seen = yield* stampOf(path);
    // A program may still be writing the file, so wait until two checks in a row find it unchanged.
    if (seen === loaded || seen !== before) return;
    loaded = seen;
    current = yield* read(path);
    yield* Effect.logInfo(`Read "${path}" again: it has changed`);
  }).pipe(
    Effect.catchTag("DamagedFile", ({ message }) =>
      Effect.logWarning(`${message}. The previous content stays in use`),
    ),
  );
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced("1 second")));
  return () => current;
});

/** A text that changes whenever the file is written or replaced; empty if there is no file. */
const stampOf = (path: string): Effect.Effect<string> =>
  Effect.tryPromise(() => stat(path, { bigint: true })).pipe(
    Effect.map(({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(" ")),
    Effect.orElseSucceed(() => ""),
  );
