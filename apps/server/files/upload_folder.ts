/** Stores uploads in unnamed temporary files, which disappear when the process ends, however it ends. */
import { randomUUID } from "node:crypto";
import { open, statfs, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreUnavailable } from "@accountlink/core";
import { maxUploadsSize, type UploadFolder } from "@accountlink/http";
import { Effect, Stream } from "effect";
import { reasonOf } from "../message_text.ts";

/** How many bytes of an upload are read at once. */
const readSize = 32_768;

const unavailable = (cause: unknown) => new StoreUnavailable({ operation: "UploadFolder", cause });

const attempt = <A>(act: () => Promise<A>) => Effect.tryPromise({ try: act, catch: unavailable });

export const uploadFolder: UploadFolder = {
  create: Effect.gen(function* () {
    const path = join(tmpdir(), `accountlink-upload-${randomUUID()}`);
    const file = yield* attempt(() => open(path, "wx+", 0o600));
    yield* attempt(() => unlink(path));
    return {
      // Unlike `write`, this does not succeed if only a part of the bytes fits on the disk.
      append: (bytes) => attempt(() => file.appendFile(bytes)),
      read: Stream.unfold(0, (position: number) =>
        Effect.map(
          attempt(() => file.read(new Uint8Array(readSize), 0, readSize, position)),
          ({ bytesRead, buffer }) =>
            bytesRead === 0 ? undefined : ([buffer.subarray(0, bytesRead), position + bytesRead] as const),
        ),
      ),
      remove: Effect.promise(() => file.close().catch(() => {})),
    };
  }),
};

const megabyte = 1_000_000;

/** Checks the temporary folder. If it is not writable, the server accepts no uploads. */
export const checkUploadFolder = Effect.gen(function* () {
  yield* Effect.flatMap(uploadFolder.create, ({ remove }) => remove);
  const { bavail, bsize } = yield* attempt(() => statfs(tmpdir()));
  const free = Math.floor((bavail * bsize) / megabyte);
  const needed = maxUploadsSize / megabyte;
  const finding = `the temporary folder "${tmpdir()}" has ${free} MB free, expected ${needed} MB for uploads`;
  return { isUsable: true, problem: free < needed ? finding : null };
}).pipe(
  Effect.catch((error) =>
    Effect.succeed({
      isUsable: false,
      problem: `uploads need the temporary folder "${tmpdir()}", which cannot be written: ${reasonOf(error)}`,
    }),
  ),
);
