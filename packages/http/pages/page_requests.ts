/**
 * What requests for pages have in common.
 */
import { type PublicError, RequestLimits } from "@accountlink/core";
import type { InternalError, SharedIpRateLimited, StoreUnavailable } from "@accountlink/core/errors";
import { Effect } from "effect";
import { HttpServerResponse } from "effect/http";
import { addErrorHeaders } from "../envelopes/envelope.ts";
import { makeObservers, respond } from "../pipeline/respond.ts";
import { requestContextMaker, type ServedContext } from "../request_context.ts";
import { HttpSettings } from "../settings.ts";
import { privateHeaders } from "./page.ts";

type Response = HttpServerResponse.HttpServerResponse;

/** What fails before or beside the answer to a request. */
type Common = SharedIpRateLimited | StoreUnavailable | InternalError;

/** How errors of pages are shown. */
export interface PageErrors<E> {
  readonly render: (error: E, context: ServedContext) => Response;
  /** The error for operators; null for what users cause. */
  readonly publicOf: (error: E) => PublicError | null;
}

/** Makes the function that counts a request against its client address, and turns errors into pages. */
export const makePageHandler = Effect.fnUntraced(function* <E>({ render, publicOf }: PageErrors<E | Common>) {
  const limits = yield* RequestLimits;
  const observers = yield* makeObservers;
  const withContext = requestContextMaker(yield* HttpSettings);

  const refuse = (error: E | Common, context: ServedContext) => {
    const reported = publicOf(error);
    const headers: Record<string, string> = {};
    if (reported !== null) addErrorHeaders(headers, reported);
    const response = HttpServerResponse.setHeaders(render(error, context), headers);
    return { response: withRequestId(response, context), error: reported };
  };

  return <R>(
    route: ServedContext["route"],
    answer: (context: ServedContext) => Effect.Effect<Response, E, R>,
  ) =>
    withContext(route, (context) =>
      respond(
        context,
        observers,
        Effect.andThen(limits.admitVisit(context.address), answer(context)).pipe(
          Effect.map((response) => withRequestId(response, context)),
          Effect.annotateLogs({ requestId: context.requestId }),
        ),
        (error) => refuse(error, context),
      ),
    );
});

export const withRequestId = (response: Response, { requestId }: ServedContext): Response =>
  HttpServerResponse.setHeader(response, "x-request-id", requestId);

/** The query of a request, with repeated values. */
export const searchOf = ({ request: { url } }: ServedContext): URLSearchParams =>
  new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "");

/** A redirect that no cache keeps. */
export const redirectTo = (status: 302 | 303, location: string): Response =>
  HttpServerResponse.redirect(location, { status, headers: privateHeaders });
