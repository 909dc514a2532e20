/**
 * Writing a file that is there only once it is whole.
 */
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { Effect, FileSystem, Stream } from "effect";

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
  const bytes = Stream.encodeText(text);
  // A link stays a link, and what it points to is replaced.
  const target = (yield* fileSystem.exists(file)) ? yield* fileSystem.realPath(file) : file;
  const isOrdinary = !(yield* fileSystem.exists(target)) || (yield* fileSystem.stat(target)).type === "File";
  // Appending is the way to write where there are no positions.
  if (!isOrdinary) return yield* Stream.run(bytes, fileSystem.sink(target, { flag: "a" }));

  const part = join(dirname(target), `.${randomUUID()}.part`);
  yield* Effect.scoped(
    Effect.gen(function* () {
      yield* Effect.addFinalizer((exit) =>
        exit._tag === "Failure" ? Effect.ignore(fileSystem.remove(part, { force: true })) : Effect.void,
      );
      // Who is linked to whom is nobody else's business.
      const opened = yield* fileSystem.open(part, { flag: "wx", mode: 0o600 });
      yield* Stream.runForEach(bytes, (chunk) => opened.writeAll(chunk));
      yield* opened.sync;
      yield* fileSystem.rename(part, target);
    }),
  );
});
