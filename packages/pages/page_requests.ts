import { type PublicError, RequestLimits } from "@accountlink/core";
import type { InternalError, SharedIpRateLimited, StoreUnavailable } from "@accountlink/core/errors";
import {
  addErrorHeaders,
  answering,
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
} from "@accountlink/http/for_pages";
import { Effect } from "effect";
import type { Language } from "./languages/language.ts";
import { chosenLanguage, Languages, languageCookie, languageOf } from "./languages/reader_language.ts";

/** A request for a page, and the language in which the page answers. */
export interface PageContext extends RequestContext {
  readonly language: Language;
}

/** Errors that occur outside the handler of a request. */
type Common = SharedIpRateLimited | StoreUnavailable | InternalError;

/** What a handler returns: an effect, or the generator of one. */
export type Answering<A, E> = Effect.Effect<A, E> | Generator<Effect.Effect<unknown, E>, A, never>;

export const asEffect = <A, E>(answering: Answering<A, E>): Effect.Effect<A, E> =>
  Effect.isEffect(answering) ? answering : Effect.gen(() => answering);

export interface PageErrors<E> {
  readonly render: (error: E, context: PageContext) => HttpResponse;
  /** Returns the error that logs and metrics report; null if a user caused it. */
  readonly publicOf: (error: E) => PublicError | null;
}

/** Returns a function that counts a request against its client address, and renders errors as pages. */
export const makePageHandler = Effect.fnUntraced(function* <E>({ render, publicOf }: PageErrors<E | Common>) {
  const limits = yield* RequestLimits;
  const observers = yield* makeObservers;
  const settings = yield* HttpSettings;
  const withContext = contextMaker(settings);
  const languages = yield* Languages;
  const cookie = languageCookie(settings.publicUrl);

  const refuse = (error: E | Common, context: PageContext) => {
    const reported = publicOf(error);
    const headers: Record<string, string> = {};
    if (reported !== null) addErrorHeaders(headers, reported);
    return { response: withRequestId(render(error, context).withHeaders(headers), context), error: reported };
  };

  return (route: RequestContext["route"], answer: (context: PageContext) => Effect.Effect<HttpResponse, E>) =>
    withContext(route, (request) =>
      Effect.flatMap(languages.get(languageOf(request, cookie.read(request))), (language) => {
        const context = { ...request, language };
        const chosen = chosenLanguage(request);
        const admitted = limits.admitPage(context.address);
        const answered = respond(
          observers,
          Effect.annotateLogs(answering(context, Effect.andThen(admitted, answer(context))), {
            requestId: context.requestId,
          }),
          (_, response) => withRequestId(response, context),
          (_, error) => refuse(error, context),
        );
        return chosen === null
          ? answered
          : Effect.map(answered, (response) => cookie.write(response, chosen));
      }),
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
