/**
 * Reads the upload of a file of links: the fields of its form, and the file straight into the folder for uploads.
 */
import { type StoreUnavailable } from "@accountlink/core";
import { Forbidden } from "@accountlink/core/errors";
import type { UploadedFile, UploadFolder } from "@accountlink/http/site";
import { Data, Effect, Stream } from "effect";
import { Multipart } from "effect/http";
import type { OwnerVisitor } from "../owner_pages.ts";

/** In bytes. */
const maxFileSize = 20_000_000;

/** With the fields and boundaries of the form. */
const maxBodySize = maxFileSize + 65_536;

/** The upload is not the form of the page. */
export class WrongUpload extends Data.TaggedError("WrongUpload")<{ readonly reason: string }> {}

export interface Upload {
  readonly fields: ReadonlyMap<string, string>;
  readonly file: UploadedFile;
  readonly fileName: string;
}

/** Keeps no more than a part of the file in memory. The field `csrf` has to stand before the file. */
export const readUpload = Effect.fnUntraced(function* (
  { context: { request }, csrf }: OwnerVisitor,
  folder: UploadFolder,
): Effect.fn.Return<Upload, WrongUpload | Forbidden | StoreUnavailable> {
  const fields = new Map<string, string>();
  let taken: Omit<Upload, "fields"> | undefined;

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
    Stream.runForEach((part) =>
      part._tag === "Field" ? Effect.sync(() => fields.set(part.key, part.value)) : takeFile(part),
    ),
    Effect.provideContext(Multipart.limitsServices({ maxParts: 10, maxFieldSize: 10_000, maxFileSize })),
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
  return { fields, ...taken };
});

const tooLarge = "The file has more than 20 MB. Larger files are for the command line of your operator.";
const unreadable = "The upload cannot be read. Send it with the form of this page.";
