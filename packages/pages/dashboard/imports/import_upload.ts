/** Reads an upload of links: the fields of its form, and the file, which streams into the upload folder. */
import type { StoreUnavailable } from "@accountlink/core";
import { Forbidden } from "@accountlink/core/errors";
import { maxUploadsSize, type UploadedFile, type UploadFolder } from "@accountlink/http/for_pages";
import { Data, Effect, Stream } from "effect";
import { Multipart } from "effect/http";
import type { OwnerVisitor } from "../owner_pages.ts";

/** In bytes. */
const maxFileSize = 20_000_000;

/** In bytes. Besides the file, the body contains the other fields of the form and the boundaries. */
const maxBodySize = maxFileSize + 65_536;

export interface Upload {
  readonly fields: ReadonlyMap<string, string>;
  readonly ignoreColumns: ReadonlyArray<string>;
  readonly file: BoundedFile;
  readonly fileName: string;
}

/** Streams the file, so that only a part of it is in memory. The field `csrf` must precede the file. */
export const readUpload = Effect.fnUntraced(function* (
  { context: { request }, csrf }: OwnerVisitor,
  folder: ReturnType<typeof boundedUploads>,
): Effect.fn.Return<Upload, WrongUpload | Forbidden | StoreUnavailable> {
  const fields = new Map<string, string>();
  const ignoreColumns: Array<string> = [];
  let taken: Pick<Upload, "file" | "fileName"> | undefined;

  const takeField = ({ key, value }: Multipart.Field) =>
    Effect.sync(() => (key === "ignoreColumn" ? ignoreColumns.push(value) : fields.set(key, value)));

  const takeFile = Effect.fnUntraced(function* (part: Multipart.File) {
    if (fields.get("csrf") !== csrf) return yield* new Forbidden({ reason: "csrf" });
    if (taken !== undefined)
      return yield* new WrongUpload({ reason: "There are several files. Choose one." });
    const file = yield* folder.create;
    taken = { file, fileName: part.name.slice(0, 100) };
    yield* Stream.runForEach(part.content, (bytes) => file.append(bytes));
  });

  yield* request.streamBody(maxBodySize).pipe(
    Stream.pipeThroughChannel(
      Multipart.makeChannel({ "content-type": request.header("content-type") ?? "" }),
    ),
    Stream.runForEach((part) => (part._tag === "Field" ? takeField(part) : takeFile(part))),
    Effect.provideContext(
      // Without `fieldMimeTypes`, a JSON file would be taken for a field.
      Multipart.limitsServices({ maxParts: 1_000, maxFieldSize: 10_000, maxFileSize, fieldMimeTypes: [] }),
    ),
    Effect.catchTags({
      BodyTooLarge: () => new WrongUpload({ reason: tooLarge }),
      MultipartError: ({ reason }) =>
        new WrongUpload({
          reason: reason._tag === "FileTooLarge" || reason._tag === "BodyTooLarge" ? tooLarge : unreadable,
        }),
    }),
    Effect.onError(() => Effect.suspend(() => taken?.file.remove ?? Effect.void)),
  );
  if (taken === undefined) return yield* new WrongUpload({ reason: "There is no file. Choose one." });
  return { fields, ignoreColumns, ...taken };
});

const tooLarge = "The file has more than 20 MB. Larger files are for the command line of your operator.";
const unreadable = "The upload cannot be read. Send it with the form of this page.";

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
