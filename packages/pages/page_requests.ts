import { type PublicError, RequestLimits } from "@accountlink/core";
import type { InternalError, SharedIpRateLimited, StoreUnavailable } from "@accountlink/core/errors";
import {
  addErrorHeaders,
  type BodyTooLarge,
  contextMaker,
  emptyResponse,
  type HttpRequest,
  type HttpResponse,
  HttpSettings,
  makeObservers,
  privateHeaders,
  type RequestContext,
  respond,
} from "@accountlink/http/site";
import { Effect } from "effect";

/** Errors that occur outside the handler of a request. */
type Common = SharedIpRateLimited | StoreUnavailable | InternalError;

export interface PageErrors<E> {
  readonly render: (error: E, context: RequestContext) => HttpResponse;
  /** Returns the error that logs and metrics report; null if a user caused it. */
  readonly publicOf: (error: E) => PublicError | null;
}

/** Returns a function that counts a request against its client address, and renders errors as pages. */
export const makePageHandler = Effect.fnUntraced(function* <E>({ render, publicOf }: PageErrors<E | Common>) {
  const limits = yield* RequestLimits;
  const observers = yield* makeObservers;
  const withContext = contextMaker(yield* HttpSettings);

  const refuse = (error: E | Common, context: RequestContext) => {
    const reported = publicOf(error);
    const headers: Record<string, string> = {};
    if (reported !== null) addErrorHeaders(headers, reported);
    return { response: withRequestId(render(error, context).withHeaders(headers), context), error: reported };
  };

  return (
    route: RequestContext["route"],
    answer: (context: RequestContext) => Effect.Effect<HttpResponse, E>,
    { isCounted = true }: { readonly isCounted?: boolean } = {},
  ) =>
    withContext(route, (context) =>
      respond(
        { context },
        observers,
        Effect.andThen(isCounted ? limits.admitKeyless(context.address) : Effect.void, answer(context)).pipe(
          Effect.map((response) => withRequestId(response, context)),
          Effect.annotateLogs({ requestId: context.requestId }),
        ),
        (response) => response,
        (error) => refuse(error, context),
      ),
    );
});

const withRequestId = (response: HttpResponse, { requestId }: RequestContext): HttpResponse =>
  response.withHeaders({ "x-request-id": requestId });

export const readForm = (
  request: HttpRequest,
  maxBytes: number,
): Effect.Effect<URLSearchParams, BodyTooLarge> =>
  Effect.map(request.readBody(maxBytes), (bytes) => new URLSearchParams(new TextDecoder().decode(bytes)));

/** A redirect that caches do not store. */
export const redirectTo = (status: 302 | 303, location: string): HttpResponse =>
  emptyResponse(status, { ...privateHeaders, location });
