/** What requests for pages have in common. */
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

/** What fails before or beside the answer to a request. */
type Common = SharedIpRateLimited | StoreUnavailable | InternalError;

export interface PageErrors<E> {
  readonly render: (error: E, context: RequestContext) => HttpResponse;
  /** The error for operators; null for what users cause. */
  readonly publicOf: (error: E) => PublicError | null;
}

/** Makes the function that counts a request against its client address, and turns errors into pages. */
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

/** A redirect that no cache keeps. */
export const redirectTo = (status: 302 | 303, location: string): HttpResponse =>
  emptyResponse(status, { ...privateHeaders, location });
