/**
 * The port for user-facing pages, which `@accountlink/pages` implements. An application without pages answers in JSON.
 */
import type { BadRequest, SharedIpRateLimited } from "@accountlink/core/errors";
import type { Effect } from "effect";
import type { HttpRequest, HttpResponse } from "./http_app.ts";
import type { BoundRoute } from "./pipeline/pipeline.ts";
import type { Answer } from "./request_context.ts";
import type { Router } from "./router.ts";

/** Answers requests that need no key. Each implementation turns errors into an envelope, or into pages of one site. */
export interface KeylessAnswers {
  /** @param id the name of the route in metrics */
  readonly keylessAnswer: (
    id: string,
    answer: (request: HttpRequest) => Effect.Effect<HttpResponse, BadRequest | SharedIpRateLimited>,
  ) => Answer;
}

export interface Pages {
  readonly routes: ReadonlyArray<BoundRoute>;
  /**
   * Returns the `KeylessAnswers` of the site that a URL belongs to, which render errors as pages of that site. Returns
   * null if the URL belongs to no site.
   */
  readonly answersAt: (url: string) => KeylessAnswers | null;
  /** Answers requests for documents, sends redirects, and answers browsers that open a URL outside all sites. */
  readonly elsewhere: KeylessAnswers;
}

/**
 * Makes the pages of an application.
 *
 * @param makeLookups makes the lookup routes that owners can try on the dashboard
 */
export type MakePages<R> = (makeLookups: () => Router) => Effect.Effect<Pages, never, R>;
