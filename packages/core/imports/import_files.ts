/** The files of an import, in parts in the storage. */
import { Data, Effect, Option, Stream } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import { piecesOf } from "./formats/text_rows.ts";
import type { ImportHolder } from "./import_store.ts";
import type { UploadStore } from "./upload_store.ts";

/** In bytes. */
const partSize = 262_144;

/** How many bytes of a file are passed on at once. */
const readSize = 32_768;

/** The account has another import or an undo at work (`busy`), or the import is not stored any more (`removed`). @internal */
export class ImportRefused extends Data.TaggedError("ImportRefused")<{
  readonly reason: "busy" | "removed";
}> {}

export interface ImportFile {
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, ImportRefused | StoreUnavailable>;
  /** Stores the bytes that are not yet a part. */
  readonly end: Effect.Effect<void, ImportRefused | StoreUnavailable>;
}

export const importFilesOn = ({ append, readPart }: UploadStore["Service"]) => ({
  write: (holder: ImportHolder, file: string): ImportFile => {
    const waiting = new Uint8Array(partSize);
    let [size, part] = [0, 0];

    const end = Effect.gen(function* () {
      if (size === 0) return;
      const bytes = waiting.slice(0, size);
      size = 0;
      const isHeld = yield* append(holder, { file, part: part++, bytes });
      if (!isHeld) return yield* removed;
    });

    return {
      append: Effect.fnUntraced(function* (bytes) {
        for (let taken = 0; taken < bytes.length; ) {
          const next = bytes.subarray(taken, taken + partSize - size);
          waiting.set(next, size);
          size += next.length;
          taken += next.length;
          if (size === partSize) yield* end;
        }
      }),
      end,
    };
  },

  /** Reads a file; each run starts at the beginning. */
  read: (id: string, file: string): Stream.Stream<Uint8Array, StoreUnavailable> =>
    Stream.unfold(0, (part: number) =>
      Effect.map(readPart(id, { file, part }), (found) =>
        Option.isNone(found) ? undefined : ([found.value, part + 1] as const),
      ),
    ).pipe(Stream.flatMap((bytes) => Stream.fromIterable(piecesOf(bytes, readSize)).pipe(Stream.rechunk(1)))),
});

export const removed = Effect.suspend(() => new ImportRefused({ reason: "removed" }));
