import type { StoreUnavailable } from "@accountlink/core";
import { maxUploadsSize, type UploadedFile, type UploadFolder } from "@accountlink/http/site";
import { Data, Effect } from "effect";

/** A refused upload, with a sentence for its owner. */
export class WrongUpload extends Data.TaggedError("WrongUpload")<{ readonly reason: string }> {}

export interface BoundedFile extends Omit<UploadedFile, "append"> {
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, WrongUpload | StoreUnavailable>;
}

/**
 * Creates files for uploads, and keeps their total size within `maxUploadsSize`.
 *
 * @param makeRoom removes a file that is not in use; returns false if all files are in use
 */
export const boundedUploads = (folder: UploadFolder, makeRoom: Effect.Effect<boolean>) => {
  let total = 0;

  const bounded = (file: UploadedFile): BoundedFile => {
    let size = 0;
    return {
      ...file,
      append: Effect.fnUntraced(function* (bytes) {
        while (total + bytes.length > maxUploadsSize) {
          if (!(yield* makeRoom)) return yield* new WrongUpload({ reason: full });
        }
        total += bytes.length;
        size += bytes.length;
        yield* file.append(bytes);
      }),
      remove: Effect.suspend(() => {
        total -= size;
        size = 0;
        return file.remove;
      }),
    };
  };

  return { create: Effect.map(folder.create, bounded) } as const;
};

const full = "Many files are being imported at the moment. Try again in a minute.";
