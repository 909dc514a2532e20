/**
 * Writing a file that is there only once it is whole.
 */
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { Data, Effect, FileSystem, type PlatformError, Stream } from "effect";

/** There is a file already, which was not to be replaced. It is as it was. */
class FileExists extends Data.TaggedError("FileExists")<{ readonly file: string }> {}

/**
 * Writes the text beside the file, under another name, and moves it into place when all of it is on the disk. A write
 * that breaks off leaves the file as it was.
 *
 * A device or a pipe cannot be replaced and is written to.
 *
 * @param existing what becomes of a file that is there before the text, or by its end
 */
export const writeWhole = Effect.fnUntraced(function* <E, R>(
  file: string,
  text: Stream.Stream<string, E, R>,
  existing: "replace" | "refuse",
) {
  const fileSystem = yield* FileSystem.FileSystem;
  // A link stays a link, and what it points to is replaced.
  const target = (yield* fileSystem.exists(file)) ? yield* fileSystem.realPath(file) : file;
  const isThere = yield* fileSystem.exists(target);
  const isOrdinary = !isThere || (yield* fileSystem.stat(target)).type === "File";
  // Appending is the way to write where there are no positions.
  if (!isOrdinary) {
    return yield* Stream.run(Stream.encodeText(text), fileSystem.sink(target, { flag: "a" }));
  }
  if (existing === "replace") {
    return yield* writePart(target, text, (part) => fileSystem.rename(part, target));
  }
  if (isThere) return yield* new FileExists({ file });
  yield* writePart(target, text, linkTo(file));
});

/** Writes the text in the same way, unless the file is there by then: what another process wrote first stays. */
export const writeOnce = (file: string, text: string) =>
  writePart(file, Stream.succeed(text), linkTo(file)).pipe(Effect.catchTag("FileExists", () => Effect.void));

/** Unlike a rename, a link never replaces a file. */
const linkTo = (file: string) =>
  Effect.fnUntraced(function* (part: string) {
    yield* (yield* FileSystem.FileSystem).link(part, file).pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag === "AlreadyExists",
        () => new FileExists({ file }),
      ),
    );
  });

/** Writes all of the text beside the target, and then has it put into place. */
const writePart = Effect.fnUntraced(function* <E, R, E2, R2>(
  target: string,
  text: Stream.Stream<string, E, R>,
  putIntoPlace: (part: string) => Effect.Effect<void, PlatformError.PlatformError | E2, R2>,
) {
  const fileSystem = yield* FileSystem.FileSystem;
  const part = join(dirname(target), `.${randomUUID()}.part`);
  yield* Effect.scoped(
    Effect.gen(function* () {
      yield* Effect.addFinalizer(() => Effect.ignore(fileSystem.remove(part, { force: true })));
      // Who is linked to whom is nobody else's business.
      const opened = yield* fileSystem.open(part, { flag: "wx", mode: 0o600 });
      yield* Stream.runForEach(Stream.encodeText(text), (chunk) => opened.writeAll(chunk));
      yield* opened.sync;
      yield* putIntoPlace(part);
      // The name is in the folder, which has to be on the disk as well. Not every file system can sync a folder.
      const folder = fileSystem.open(dirname(target), { flag: "r" });
      yield* Effect.ignore(Effect.flatMap(folder, ({ sync }) => sync));
    }),
  );
});
