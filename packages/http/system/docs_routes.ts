import { BadRequest } from "@accountlink/core/errors";
import { Effect } from "effect";
import { type HttpRequest, pathOf } from "../http_app.ts";
import type { KeylessAnswers } from "../pages.ts";
import type { BoundRoute } from "../pipeline/pipeline.ts";
import { type Doc, onceMade } from "../static_document.ts";

/**
 * Makes the routes of documents. A document is made on its first request, but a document below a `*` path is made on
 * every request.
 *
 * @param pipeline answers requests for documents that are not pages, and puts errors into an envelope
 * @param flow answers requests for documents that are pages, and renders errors as pages
 */
export const docsRoutes = (
  docs: ReadonlyArray<Doc>,
  pipeline: KeylessAnswers,
  flow: KeylessAnswers,
): ReadonlyArray<BoundRoute> =>
  docs.map(({ id, path, isPage, make }) => {
    const documentAt = path.endsWith("/*") ? make : onceMade(make);
    const answer = Effect.fnUntraced(function* (request: HttpRequest) {
      const document = yield* Effect.promise(() => documentAt(pathOf(request.url)));
      return document === null ? yield* new BadRequest({ problem: "not_found" }) : document(request);
    });
    return { method: "GET", path, answer: (isPage ? flow : pipeline).keylessAnswer(id, answer) };
  });
