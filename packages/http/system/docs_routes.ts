/**
 * The routes of the API reference. No key needed.
 */
import { Effect } from "effect";
import { HttpServerRequest, type HttpServerResponse } from "effect/http";
import type { Doc } from "../docs/docs.ts";
import type { BoundRoute } from "../pipeline/pipeline.ts";

/** Answers without a key, within the requests per second of the client address. */
interface Visits {
  readonly visit: (
    id: string,
    answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>,
  ) => BoundRoute["answer"];
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
    let making: ReturnType<Doc["make"]> | undefined;
    const document = Effect.promise(() => (making ??= make()));
    const answer = Effect.zipWith(document, HttpServerRequest.HttpServerRequest, (answerTo, request) =>
      answerTo(request),
    );
    return { method: "GET", path, answer: (isPage ? flow : pipeline).visit(id, answer) };
  });
