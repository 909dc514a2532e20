/**
 * The port for user-facing pages, which `@accountlink/pages` implements. An application without pages answers in JSON.
 */
import type { BadRequest, SharedIpRateLimited } from "@accountlink/core/errors";
import type { Effect } from "effect";
import type { HttpRequest, HttpResponse } from "./http_app.ts";
import type { BoundRoute } from "./pipeline/pipeline.ts";
import type { Answer } from "./request_context.ts";
import type { Router } from "./router.ts";

/** Answers requests without a key and renders their errors in one format: an envelope, or the pages of one site. */
interface KeylessAnswers {
  /** @param id the name of the route in metrics */
  readonly keylessAnswer: (
    id: string,
    answer: (request: HttpRequest) => Effect.Effect<HttpResponse, BadRequest | SharedIpRateLimited>,
  ) => Answer;
}

export interface Pages {
  readonly routes: ReadonlyArray<BoundRoute>;
  /**
   * Finds the site that a path belongs to, whose answers render errors as pages of that site; null if there is no such
   * site.
   */
  readonly answersAt: (url: string) => KeylessAnswers | null;
  /** Renders errors of documents and redirects as pages of the verification flow. */
  readonly documents: KeylessAnswers;
  /** Renders the page "not found" for a browser that opens a path outside all sites. */
  readonly elsewhere: KeylessAnswers;
}

/**
 * Makes the pages of an application.
 *
 * @param makeLookups makes the lookup routes that owners can try on the dashboard
 */
export type MakePages<R> = (makeLookups: () => Router) => Effect.Effect<Pages, never, R>;
