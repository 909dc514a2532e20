import { type PublicError, RequestLimits } from "@accountlink/core";
import type { InternalError, SharedIpRateLimited, StoreUnavailable } from "@accountlink/core/errors";
import {
  addErrorHeaders,
  answering,
  type BodyTooLarge,
  contextMaker,
  emptyResponse,
  type HttpRequest,
  HttpResponse,
  HttpSettings,
  makeObservers,
  privateHeaders,
  type RequestContext,
  type Answer as RouteAnswer,
  respond,
} from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { chosenLanguage, Languages, languageCookie, languageOf } from "./languages/reader_language.ts";
import type { Page } from "./page.ts";
import { makeRender, type PageContext } from "./page_render.ts";
import { asVisitor } from "./page_turns.ts";

/** Errors that occur outside the handler of a request. */
type Common = SharedIpRateLimited | StoreUnavailable | InternalError;

/** What a handler returns: an effect, or the generator of one. */
export type Answering<A, E> = Effect.Effect<A, E> | Generator<Effect.Effect<unknown, E>, A, never>;

export const asEffect = <A, E>(answer: Answering<A, E>): Effect.Effect<A, E> =>
  Effect.isEffect(answer) ? answer : Effect.gen(() => answer);

export interface PageErrors<E> {
  readonly pageOf: (error: E, context: PageContext) => Page | HttpResponse;
  /** Returns the error that logs and metrics report; null if a user caused it. */
  readonly publicOf: (error: E) => PublicError | null;
}

/** Makes answers that are counted against the client address. They render their pages, and errors as pages. */
export const makePageHandler = Effect.fnUntraced(function* <E>({ pageOf, publicOf }: PageErrors<E | Common>) {
  const render = yield* makeRender;
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
    const response = rendered(pageOf(error, context), context).withHeaders(headers);
    return { response: withRequestId(response, context), error: reported };
  };

  const rendered = (answered: Page | HttpResponse, context: PageContext): HttpResponse =>
    answered instanceof HttpResponse ? answered : render(answered, context);

  /** @param id the route that metrics and logs show */
  const handle = (id: string, answer: (context: PageContext) => Answering<Page | HttpResponse, E>) =>
    withContext(
      { id, generation: "v2", group: null },
      Effect.fnUntraced(function* (request) {
        // Before anything of the request is read that a client can make long.
        const admitted = yield* Effect.exit(limits.admitAddress(request.address, "page"));
        const language = yield* languages.get(languageOf(languages, request, cookie.read(request)));
        const context = { ...request, language };
        const work = Effect.flatMap(admitted, () => asVisitor(context, asEffect(answer(context))));
        const response = yield* respond(
          observers,
          answering(context, work),
          (_, made) => withRequestId(rendered(made, context), context),
          (_, error) => refuse(error, context),
        );
        const chosen = chosenLanguage(languages, request);
        return chosen === null ? response : cookie.write(response, chosen);
      }, annotatedWithRequest),
    );

  /** Makes the answer for a path that needs no sign-in. */
  const keylessAnswer = (
    id: string,
    answer: (request: HttpRequest) => Effect.Effect<HttpResponse, E>,
  ): RouteAnswer => handle(id, ({ request }) => answer(request));

  return { handle, keylessAnswer, render };
});

/**
 * Whether a request comes ahead of a visit: only for its headers, or from a browser that guesses the next page
 * (`Sec-Purpose`, and `Purpose` and `X-Moz` of older browsers).
 */
export const isFetchedAhead = ({ request }: Pick<RequestContext, "request">): boolean =>
  request.method === "HEAD" ||
  (["sec-purpose", "purpose", "x-moz"] as const).some((name) =>
    /\bprefetch\b/i.test(request.header(name) ?? ""),
  );

/** The answer to a sign-in or callback that is fetched ahead. Browsers drop an answer without a document, and ask again. */
export const notYet: HttpResponse = emptyResponse(204, privateHeaders);

const annotatedWithRequest = <A>(
  answered: Effect.Effect<A>,
  { requestId }: Pick<RequestContext, "requestId">,
): Effect.Effect<A> => Effect.annotateLogs(answered, { requestId });

const withRequestId = (response: HttpResponse, { requestId }: RequestContext): HttpResponse =>
  response.withHeaders({ "x-request-id": requestId });

/** The largest forms, in bytes: of IDs and names alone, with texts, and with lists. */
export const formSizes = { ids: 4_096, texts: 16_384, lists: 65_536 } as const;

export const readForm = (
  request: HttpRequest,
  maxBytes: number,
): Effect.Effect<URLSearchParams, BodyTooLarge> =>
  Effect.map(request.readBody(maxBytes), (bytes) => new URLSearchParams(new TextDecoder().decode(bytes)));

export const redirectTo = (status: 302 | 303, location: string): HttpResponse =>
  emptyResponse(status, { ...privateHeaders, location });
