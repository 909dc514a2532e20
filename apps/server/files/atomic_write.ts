import { dirname } from "node:path";
import { StorageSql } from "@accountlink/sql";
import { Clock, Data, Effect, FileSystem, Option, type PlatformError, Stream } from "effect";
import { newPart, removeAbandoned } from "./parts.ts";

class FileExists extends Data.TaggedError("FileExists")<{ readonly file: string }> {}

/**
 * Writes a temporary file next to the target, syncs it to disk, then moves it into place. If the write fails, the
 * target is unchanged. Devices and pipes are written to directly.
 *
 * @param existing what to do if the target exists; checked before the file is written, and again when it is moved
 */
export const writeAtomically = Effect.fnUntraced(function* <E, R>(
  file: string,
  text: Stream.Stream<string, E, R>,
  existing: "replace" | "refuse",
) {
  const fileSystem = yield* FileSystem.FileSystem;
  const isThere = yield* fileSystem.exists(file);
  // A symbolic link stays, and its target is replaced.
  const target = isThere ? yield* fileSystem.realPath(file) : file;
  const replaced = isThere ? yield* fileSystem.stat(target) : null;
  // Pipes have no positions, so writes must append.
  if (replaced !== null && replaced.type !== "File") {
    return yield* Stream.run(Stream.encodeText(text), fileSystem.sink(target, { flag: "a" }));
  }
  if (existing === "replace") {
    return yield* writePart(target, text, (part) =>
      Effect.andThen(keepOwner(part, replaced), fileSystem.rename(part, target)),
    );
  }
  if (isThere) return yield* new FileExists({ file });
  yield* writePart(target, text, linkTo(file));
});

/** Keeps the owner: a service that runs as another user must still be able to read a file that root replaces. */
const keepOwner = (part: string, replaced: FileSystem.File.Info | null) =>
  Option.match(Option.all([replaced?.uid ?? Option.none(), replaced?.gid ?? Option.none()]), {
    onNone: () => Effect.void,
    onSome: ([uid, gid]) =>
      Effect.flatMap(FileSystem.FileSystem, ({ chown }) => Effect.ignore(chown(part, uid, gid))),
  });

/** Writes the file atomically unless it exists: the first of several processes wins. */
export const writeIfAbsent = (file: string, text: string) =>
  writePart(file, Stream.succeed(text), (part) => {
    StorageSql.giveToOwnerOf(dirname(part), part);
    return linkTo(file)(part);
  }).pipe(Effect.catchTag("FileExists", () => Effect.void));

/** Unlike a rename, a hard link never replaces a file. */
const linkTo = (file: string) =>
  Effect.fnUntraced(function* (part: string) {
    yield* (yield* FileSystem.FileSystem).link(part, file).pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag === "AlreadyExists",
        () => new FileExists({ file }),
      ),
    );
  });

/** Writes the text to a temporary file next to the target, then calls `putIntoPlace`. */
const writePart = Effect.fnUntraced(function* <E, R, E2, R2>(
  target: string,
  text: Stream.Stream<string, E, R>,
  putIntoPlace: (part: string) => Effect.Effect<void, PlatformError.PlatformError | E2, R2>,
) {
  const fileSystem = yield* FileSystem.FileSystem;
  const part = newPart(dirname(target));
  const now = yield* Clock.currentTimeMillis;
  // A folder that cannot be listed may be written to.
  yield* Effect.ignore(Effect.tryPromise(() => removeAbandoned(dirname(target), now)));
  yield* Effect.scoped(
    Effect.gen(function* () {
      yield* Effect.addFinalizer(() => Effect.ignore(fileSystem.remove(part, { force: true })));
      // Exports and secrets are private, so only the owner may read the file.
      const opened = yield* fileSystem.open(part, { flag: "wx", mode: 0o600 });
      yield* Stream.runForEach(Stream.encodeText(text), (chunk) => opened.writeAll(chunk));
      yield* opened.sync;
      yield* putIntoPlace(part);
      // The new name is durable once the folder is synced. Some file systems cannot sync a folder, so errors are
      // ignored.
      const folder = fileSystem.open(dirname(target), { flag: "r" });
      yield* Effect.ignore(Effect.flatMap(folder, ({ sync }) => sync));
    }),
  );
});
