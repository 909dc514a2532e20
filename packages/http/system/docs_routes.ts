/**
 * The routes of the API reference. No key needed.
 */
import { Effect } from "effect";
import type { Doc } from "../docs/docs.ts";
import type { HttpRequest } from "../http_request.ts";
import type { HttpResponse } from "../http_response.ts";
import type { BoundRoute } from "../pipeline/pipeline.ts";
import type { Answer } from "../request_context.ts";
import { onceMade } from "../static_document.ts";

/** Answers without a key, within the requests per second of the client address. */
interface Visits {
  readonly visit: (id: string, answer: (request: HttpRequest) => Effect.Effect<HttpResponse>) => Answer;
}

/**
 * Binds documents, each of which is made on its first request.
 *
 * @param pipeline refuses with an envelope
 * @param flow refuses with a page
 */
export const docsRoutes = (
  docs: ReadonlyArray<Doc>,
  pipeline: Visits,
  flow: Visits,
): ReadonlyArray<BoundRoute> =>
  docs.map(({ id, path, isPage, make }) => {
    const document = onceMade(make);
    const answer = (request: HttpRequest) =>
      Effect.map(Effect.promise(document), (answerTo) => answerTo(request));
    return { method: "GET", path, answer: (isPage ? flow : pipeline).visit(id, answer) };
  });
