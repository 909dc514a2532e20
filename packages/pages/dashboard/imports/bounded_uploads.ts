import type { StoreUnavailable } from "@accountlink/core";
import { maxUploadsSize, type UploadedFile, type UploadFolder } from "@accountlink/http/for_pages";
import { Data, Effect } from "effect";

/** A refused upload, with a sentence for its owner. */
export class WrongUpload extends Data.TaggedError("WrongUpload")<{ readonly reason: string }> {}

export interface BoundedFile extends Omit<UploadedFile, "append"> {
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, WrongUpload | StoreUnavailable>;
  /** Moves the file from the room of unfinished uploads to the room of finished files. */
  readonly finish: Effect.Effect<void, WrongUpload>;
}

/** Half of `maxUploadsSize` is for unfinished uploads, so that slow ones take no room from others' imports. */
const roomSize = maxUploadsSize / 2;

/** @param makeRoom removes a file; returns false if none can be removed */
const makeRoomFor = (makeRoom: Effect.Effect<boolean>) => {
  const room = {
    used: 0,
    take: Effect.fnUntraced(function* (size: number) {
      while (room.used + size > roomSize) {
        if (!(yield* makeRoom)) return yield* new WrongUpload({ reason: full });
      }
      room.used += size;
    }),
    leave: (size: number) => {
      room.used -= size;
    },
  };
  return room;
};

/**
 * Creates files for uploads, and keeps their total size within `maxUploadsSize`. If unfinished uploads have no more
 * room, the oldest one is refused.
 *
 * @param makeRoom removes a finished file that is not in use; returns false if all files are in use
 */
export const boundedUploads = (folder: UploadFolder, makeRoom: Effect.Effect<boolean>) => {
  /** Refuses each unfinished upload, the oldest first. */
  const unfinished = new Set<Effect.Effect<void>>();
  const rooms = {
    unfinished: makeRoomFor(
      Effect.suspend(() => {
        const [refuseOldest] = unfinished;
        return refuseOldest === undefined ? Effect.succeed(false) : Effect.as(refuseOldest, true);
      }),
    ),
    finished: makeRoomFor(makeRoom),
  };

  const bounded = (file: UploadedFile, first: keyof typeof rooms): BoundedFile => {
    let room = rooms[first];
    let size = 0;
    let isRefused = false;

    const remove = Effect.suspend(() => {
      unfinished.delete(refuse);
      room.leave(size);
      size = 0;
      return file.remove;
    });

    const refuse = Effect.suspend(() => {
      isRefused = true;
      return remove;
    });

    if (first === "unfinished") unfinished.add(refuse);
    return {
      read: file.read,
      remove,

      append: Effect.fnUntraced(function* (bytes) {
        yield* room.take(bytes.length);
        // Making room may have refused this upload itself.
        if (isRefused) {
          room.leave(bytes.length);
          return yield* new WrongUpload({ reason: slow });
        }
        size += bytes.length;
        yield* file.append(bytes);
      }),

      finish: Effect.gen(function* () {
        if (isRefused) return yield* new WrongUpload({ reason: slow });
        unfinished.delete(refuse);
        yield* rooms.finished.take(size);
        room.leave(size);
        room = rooms.finished;
      }),
    };
  };

  return {
    create: Effect.map(folder.create, (file) => bounded(file, "unfinished")),
    createFinished: Effect.map(folder.create, (file) => bounded(file, "finished")),
  } as const;
};

const full = "Many files are being imported at the moment. Try again in a minute.";

const slow = "Many files are being uploaded at the moment, and yours was the slowest. Try again in a minute.";
