/** Reads an upload of links: the fields of its form, and the file, which streams into the storage. */
import type { StoreUnavailable } from "@accountlink/core";
import { Forbidden } from "@accountlink/core/errors";
import type { ImportFile, ImportRefused } from "@accountlink/core/imports";
import { Data, Effect, Stream } from "effect";
import { Multipart } from "effect/http";
import type { OwnerVisitor } from "../owner_pages.ts";

/** In bytes. */
const maxFileSize = 20_000_000;

/** Besides the file, the body contains the other fields of the form and the boundaries, of at most so many bytes. */
const otherBytes = 65_536;

export class WrongUpload extends Data.TaggedError("WrongUpload")<{
  readonly reason: "several" | "none" | "too_large" | "unreadable";
}> {}

export interface UploadFields {
  readonly fields: ReadonlyMap<string, string>;
  readonly ignoreColumns: ReadonlyArray<string>;
}

export interface Upload extends UploadFields {
  readonly fileName: string;
}

/**
 * Streams the file, so that only a part of it is in memory. The field `csrf` must precede the file.
 *
 * @param onFields takes the fields before the file, also of an upload that is refused
 */
export const readUpload = Effect.fnUntraced(function* (
  { context: { request }, csrf }: OwnerVisitor,
  file: ImportFile,
  { mostBytes = maxFileSize, onFields = (_: UploadFields): void => undefined } = {},
): Effect.fn.Return<Upload, WrongUpload | ImportRefused | Forbidden | StoreUnavailable> {
  const most = mostBytes + otherBytes;
  const isTooLarge = Number(request.header("content-length")) > most;
  const fields = new Map<string, string>();
  const ignoreColumns: Array<string> = [];
  let fileName: string | undefined;

  const takeField = ({ key, value }: Multipart.Field) =>
    Effect.sync(() => (key === "ignoreColumn" ? ignoreColumns.push(value) : fields.set(key, value)));

  const takeFile = Effect.fnUntraced(function* (part: Multipart.File) {
    if (fields.get("csrf") !== csrf) return yield* new Forbidden({ reason: "csrf" });
    if (fileName !== undefined) return yield* new WrongUpload({ reason: "several" });
    onFields({ fields, ignoreColumns });
    if (isTooLarge) return yield* new WrongUpload({ reason: "too_large" });
    // A browser sends a field without a file as an empty file without a name.
    if (part.name === "") return yield* Stream.runDrain(part.content);
    fileName = part.name.slice(0, 100);
    yield* Stream.runForEach(part.content, (bytes) => file.append(bytes));
  });

  yield* request.streamBody(isTooLarge ? Number.MAX_SAFE_INTEGER : most).pipe(
    Stream.pipeThroughChannel(
      Multipart.makeChannel({ "content-type": request.header("content-type") ?? "" }),
    ),
    Stream.runForEach((part) => (part._tag === "Field" ? takeField(part) : takeFile(part))),
    Effect.provideContext(
      // Without `fieldMimeTypes`, a JSON file would be taken for a field.
      Multipart.limitsServices({
        maxParts: 1_000,
        maxFieldSize: 10_000,
        maxFileSize: mostBytes,
        fieldMimeTypes: [],
      }),
    ),
    Effect.catchTags({
      BodyTooLarge: () => new WrongUpload({ reason: "too_large" }),
      MultipartError: ({ reason }) =>
        new WrongUpload({
          reason:
            reason._tag === "FileTooLarge" || reason._tag === "BodyTooLarge" ? "too_large" : "unreadable",
        }),
    }),
  );
  if (fileName === undefined) return yield* new WrongUpload({ reason: "none" });
  return { fields, ignoreColumns, fileName };
});
