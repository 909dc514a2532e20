/**
 * Writing a file that is there only once it is whole.
 */
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { Effect, FileSystem, type PlatformError, Stream } from "effect";

/**
 * Writes the text beside the file, under another name, and gives it the file's place when all of it is on the disk.
 * What broke off leaves the file as it was.
 *
 * A device or a pipe cannot be replaced and is written to.
 */
export const writeWhole = Effect.fnUntraced(function* <E, R>(
  file: string,
  text: Stream.Stream<string, E, R>,
) {
  const fileSystem = yield* FileSystem.FileSystem;
  // A link stays a link, and what it points to is replaced.
  const target = (yield* fileSystem.exists(file)) ? yield* fileSystem.realPath(file) : file;
  const isOrdinary = !(yield* fileSystem.exists(target)) || (yield* fileSystem.stat(target)).type === "File";
  // Appending is the way to write where there are no positions.
  if (!isOrdinary) {
    return yield* Stream.run(Stream.encodeText(text), fileSystem.sink(target, { flag: "a" }));
  }
  yield* writePart(target, text, (part) => fileSystem.rename(part, target));
});

/** Writes the text in the same way, unless the file is there by then: what another process wrote first stays. */
export const writeOnce = Effect.fnUntraced(function* (file: string, text: string) {
  const fileSystem = yield* FileSystem.FileSystem;
  yield* writePart(file, Stream.succeed(text), (part) =>
    Effect.catchIf(
      fileSystem.link(part, file),
      ({ reason }) => reason._tag === "AlreadyExists",
      () => Effect.void,
    ),
  );
});

/** Writes all of the text beside the target, and then has it put into place. */
const writePart = Effect.fnUntraced(function* <E, R>(
  target: string,
  text: Stream.Stream<string, E, R>,
  putIntoPlace: (part: string) => Effect.Effect<void, PlatformError.PlatformError>,
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
    }),
  );
});
