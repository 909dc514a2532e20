/** Reads an upload of links: the fields of its form, and the file, which streams into the upload folder. */
import { type StoreUnavailable } from "@accountlink/core";
import { Forbidden } from "@accountlink/core/errors";
import { Effect, Stream } from "effect";
import { Multipart } from "effect/http";
import type { OwnerVisitor } from "../owner_pages.ts";
import { type BoundedFile, type boundedUploads, WrongUpload } from "./bounded_uploads.ts";

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
    Effect.provideContext(Multipart.limitsServices({ maxParts: 1_000, maxFieldSize: 10_000, maxFileSize })),
    Effect.catchTags({
      BodyTooLarge: () => Effect.fail(new WrongUpload({ reason: tooLarge })),
      MultipartError: ({ reason }) =>
        Effect.fail(
          new WrongUpload({
            reason: reason._tag === "FileTooLarge" || reason._tag === "BodyTooLarge" ? tooLarge : unreadable,
          }),
        ),
    }),
    Effect.onError(() => Effect.suspend(() => taken?.file.remove ?? Effect.void)),
  );
  if (taken === undefined) return yield* new WrongUpload({ reason: "There is no file. Choose one." });
  return { fields, ignoreColumns, ...taken };
});

const tooLarge = "The file has more than 20 MB. Larger files are for the command line of your operator.";
const unreadable = "The upload cannot be read. Send it with the form of this page.";
