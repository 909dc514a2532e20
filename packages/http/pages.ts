/** The port of the pages for people, which `@accountlink/pages` implements. An application without pages answers in JSON. */
import type { BadRequest, SharedIpRateLimited } from "@accountlink/core/errors";
import type { Effect } from "effect";
import type { HttpRequest } from "./http_request.ts";
import type { HttpResponse } from "./http_response.ts";
import type { BoundRoute } from "./pipeline/pipeline.ts";
import type { Answer } from "./request_context.ts";
import type { Router } from "./router.ts";

/** Answers without a key, whose errors are told in one form: an envelope, or the pages of one site. */
interface KeylessAnswers {
  /** @param id the route in metrics */
  readonly keylessAnswer: (
    id: string,
    answer: (request: HttpRequest) => Effect.Effect<HttpResponse, BadRequest | SharedIpRateLimited>,
  ) => Answer;
}

export interface Pages {
  readonly routes: ReadonlyArray<BoundRoute>;
  /** Tells errors with the pages of the site that has the path; null for a path without a site. */
  readonly answersAt: (url: string) => KeylessAnswers | null;
  /** Tells errors at documents and redirects, which count as requests of the flow. */
  readonly documents: KeylessAnswers;
  /** Tells browsers that a path outside of all sites does not exist. */
  readonly elsewhere: KeylessAnswers;
}

/**
 * Makes the pages of an application.
 *
 * @param makeLookups makes the routes that owners try on the dashboard
 */
export type MakePages<R> = (makeLookups: () => Router) => Effect.Effect<Pages, never, R>;
