/** The routes of the public verification flow: pages and redirects, without a key. */
import {
  ChatPlatform,
  PlatformUnavailable,
  type PublicError,
  SessionSettings,
  VerificationFlows,
} from "@accountlink/core";
import { BadRequest, type InternalError, type SharedIpRateLimited } from "@accountlink/core/errors";
import {
  type ConfirmForm,
  entryIn,
  type FlowEntry,
  type FlowError,
  type FlowForm,
  type FlowRefused,
  type GameWay,
  isLate,
  makeUsableGameWays,
  type ProofStep,
  possibleGameWays,
  type WordsView,
} from "@accountlink/core/flow";
import { type ChatId, isChatId } from "@accountlink/core/ids";
import { IsRoblox } from "@accountlink/core/platforms";
import { RequestPlaces } from "@accountlink/core/turns";
import {
  type BoundRoute,
  type HttpRequest,
  type HttpResponse,
  HttpSettings,
  isUnder,
  type KeylessAnswers,
  searchOf,
} from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { homePage } from "../home/home_page.ts";
import { countdownPath, type Page, stylePath } from "../page.ts";
import { browserCookie, flowCookie, lastPageCookie } from "../page_cookie.ts";
import { makeRender, type PageContext } from "../page_render.ts";
import {
  type Answering,
  asEffect,
  formSizes,
  isFetchedAhead,
  makePageHandler,
  notYet,
  readForm,
  redirectTo,
} from "../page_requests.ts";
import { PageSettings } from "../page_settings.ts";
import { countdown, style } from "../style.ts";
import { fileRoute, routeId } from "./file_route.ts";
import { entryOf, flowPath, isGiven, lastPagePath } from "./flow_form.ts";
import { openWays } from "./game_ways.ts";
import { cancelledPage, donePage, flowPage } from "./pages.ts";
import { codePage, namedRefusalPage, refusalPage, unmatched } from "./refusals.ts";
import { wordsPage, wordsScript, wordsScriptPath } from "./words_page.ts";

type Refused = FlowError | SharedIpRateLimited | BadRequest;
type Failure = Refused | InternalError;
type Answer = Answering<Page | HttpResponse, Refused>;

/**
 * Makes the routes of the flow, and the following for other routes:
 * - `keylessAnswer` makes an answer that shows errors as pages.
 * - `closed` is the answer of pages that need a sign-in, if nobody can sign in.
 */
export const flowRoutes = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const flows = yield* VerificationFlows;
  const places = yield* RequestPlaces;
  const cookie = flowCookie(settings.publicUrl);
  const pageSettings = yield* PageSettings;
  const { sightingRetention } = yield* SessionSettings;
  const hasAtNames = yield* IsRoblox;
  const gameWays = yield* possibleGameWays;
  const usableGameWays = yield* makeUsableGameWays;
  const addBot = (yield* ChatPlatform).botInvite?.(null, "roles_and_posts") ?? null;
  const lastPage = lastPageCookie(settings.publicUrl);
  const markCookie = browserCookie(settings.publicUrl, sightingRetention);
  const callbackUri = (step: ProofStep) => `${settings.publicUrl}/verify/${step}/callback`;

  const render = yield* makeRender;
  const keepLast = (response: HttpResponse, text: string | null | undefined) =>
    text ? lastPage.write(response, text) : response;

  /** Renders the last page of a flow, which its browser keeps under the address `lastPagePath`. */
  const renderLast = (page: Page, context: PageContext, text: string | null) =>
    keepLast(render(text === null ? page : { ...page, address: lastPagePath }, context), text);

  const { handle } = yield* makePageHandler<Failure>({
    publicOf,
    pageOf: (error, context) => {
      const page = errorPage(error, context, cookie.read(context));
      return error._tag === "FlowRefused" ? keepLast(render(page, context), error.lastPage) : page;
    },
  });

  /** Shows the last page of the browser again; null if it has none, or if the page answered another request. */
  const showLast = (context: PageContext, answered: string | null, late: FlowRefused | null = null) =>
    Effect.map(
      flows.showLast(lastPage.read(context), answered, late),
      (last) => last && { ...("chat" in last ? donePage(last) : cancelledPage(last)), address: lastPagePath },
    );

  /** Answers a request that is sent again with the page that it got before, and with the status of its refusal now. */
  const orLast = <A>(context: PageContext, answered: string | null, work: Effect.Effect<A, Refused>) =>
    Effect.catchTag(work, "FlowRefused", (refused) =>
      Effect.flatMap(
        isLate(refused) ? showLast(context, answered ?? "", refused) : Effect.succeed(null),
        (page) => {
          const { status = 200 } = refusalPage(refused);
          return page === null ? Effect.fail(refused) : Effect.succeed({ ...page, status });
        },
      ),
    );

  const keylessAnswer: KeylessAnswers["keylessAnswer"] = (id, answer) =>
    handle(id, (context) =>
      Effect.catchTag(answer(context.request), "BadRequest", (refused) =>
        isOfLastPage(context.request) && lastPage.read(context) !== null
          ? Effect.flatMap(places.visit(context.address, showLast(context, null)), (page) =>
              page === null ? Effect.fail(refused) : Effect.succeed(page),
            )
          : Effect.fail(refused),
      ),
    );

  const pageAt = (
    path: "/" | "/go" | `/verify${string}`,
    answer: (context: PageContext) => Answer,
  ): BoundRoute => ({
    method: "GET",
    path,
    answer: handle(routeId, (context) => places.visit(context.address, asEffect(answer(context)))),
  });

  const show = Effect.fnUntraced(function* (context: PageContext) {
    const entry = entryOf(context);
    if (entry === null) return namedRefusalPage("no_entry");
    const view = yield* flows.view(entry, cookie.read(context));
    // Where words are the only way to go on, their page is shown at once.
    const isOnlyWords =
      view.ways.includes("words") &&
      openWays(view).length === 1 &&
      view.connections.length + view.known.length === 0;
    if (isOnlyWords && view.chat !== null && view.game === null) {
      return answerWords(context, { entry, cookie: view.cookie, view, problem: null });
    }
    const page = flowPage(view, sightingRetention, context.clock.currentTimeMillisUnsafe());
    return cookie.write(render(page, context), view.cookie);
  });

  const answerWords = (context: PageContext, shown: WordsView, typed?: string) => {
    const page = wordsPage(shown, hasAtNames, context.clock.currentTimeMillisUnsafe(), typed);
    return cookie.write(render(page, context), shown.cookie);
  };

  /** Redirects to the next page of a flow with a new proof. */
  const goOn = (proven: { readonly entry: FlowEntry; readonly cookie: string }) =>
    cookie.write(redirectTo(303, flowPath(proven.entry)), proven.cookie);

  /** Fails as an unknown path while the game platform does not tell descriptions. */
  const requireWords = Effect.filterOrFail(
    usableGameWays,
    ({ ways }) => ways.includes("words"),
    () => new BadRequest({ problem: "not_found" }),
  );

  const showWords = (context: PageContext): Answer =>
    requireWords.pipe(
      Effect.andThen(flows.showWords(entryOf(context), cookie.read(context))),
      Effect.map((shown) => answerWords(context, shown)),
    );

  const nameAccount = (context: PageContext, fields: URLSearchParams) => {
    const typed = fields.get("username") ?? "";
    const named = flows.nameAccount(cookie.read(context), flowFormOf(fields), typed, context.address);
    return Effect.map(Effect.andThen(requireWords, named), (shown) => answerWords(context, shown, typed));
  };

  const checkWords = (context: PageContext, fields: URLSearchParams) =>
    requireWords.pipe(
      Effect.andThen(flows.checkWords(cookie.read(context), flowFormOf(fields), context.address)),
      Effect.map((checked) => ("view" in checked ? answerWords(context, checked) : goOn(checked))),
    );

  /** Proves the game account that a form names, and goes on. */
  const chooseBy = (choose: typeof flows.chooseKnown) => (context: PageContext, fields: URLSearchParams) =>
    Effect.map(choose(cookie.read(context), flowFormOf(fields), fields.get("gameId") ?? ""), goOn);

  const enter = (context: PageContext, typed: string) =>
    flows.enterByCode(typed, context.address).pipe(
      Effect.map(({ entry }) => redirectTo(303, flowPath(entry))),
      Effect.catchTag("FlowRefused", (error) =>
        error.reason === "unknown_code" || error.reason === "ended_code"
          ? Effect.succeed(codePage(error.reason, typed))
          : Effect.fail(error),
      ),
      Effect.catchTag("SharedIpRateLimited", ({ retryAfter }) => {
        const page = codePage("too_many_codes", typed);
        return Effect.succeed(render(page, context).withHeaders({ "retry-after": String(retryAfter) }));
      }),
    );

  const showCode = (context: PageContext): Answer => {
    const { code } = context.query;
    return isGiven(code) ? enter(context, code) : Effect.succeed(codePage(null));
  };

  const start =
    (step: ProofStep) =>
    (context: PageContext): Answer =>
      isFetchedAhead(context)
        ? Effect.succeed(notYet)
        : Effect.map(
            flows.start(step, entryOf(context), cookie.read(context), callbackUri(step)),
            (started) => cookie.write(redirectTo(302, started.url), started.cookie),
          );

  const finish =
    (step: ProofStep) =>
    (context: PageContext): Answer => {
      if (isFetchedAhead(context)) return Effect.succeed(notYet);
      const callback = searchOf(context.request);
      const finished = flows.finish(step, cookie.read(context), callback, callbackUri(step));
      // The URL of the callback works only once. Redirect to another URL, so that the back and reload buttons do not
      // request the callback again.
      return orLast(context, callback.get("state"), Effect.map(finished, goOn));
    };

  const confirm = Effect.fnUntraced(function* (context: PageContext, form: ConfirmForm) {
    const { address, requestId } = context;
    const from = { address, browser: markCookie.read(context), requestId };
    const confirmed = yield* flows.confirm(cookie.read(context), form, from);
    const kept =
      confirmed.redirect === null
        ? renderLast(donePage(confirmed), context, confirmed.lastPage)
        : keepLast(redirectTo(303, confirmed.redirect), confirmed.lastPage);
    return confirmed.browser === null ? kept : markCookie.write(kept, confirmed.browser);
  });

  const cancel = (context: PageContext, form: FlowForm) =>
    Effect.map(flows.cancel(cookie.read(context), form), (ended) =>
      renderLast(cancelledPage(ended), context, ended.lastPage),
    );

  const withForm = (
    path: "/go" | `/verify${string}`,
    answer: (context: PageContext, fields: URLSearchParams) => Effect.Effect<Page | HttpResponse, Refused>,
  ): BoundRoute => ({
    method: "POST",
    path,
    answer: handle(routeId, (context) =>
      Effect.matchEffect(readForm(context.request, formSizes.ids), {
        onFailure: () => Effect.succeed(namedRefusalPage("unreadable")),
        onSuccess: (fields) =>
          places.visit(context.address, orLast(context, fields.get("csrf"), answer(context, fields))),
      }),
    ),
  });

  const routesOf: Readonly<Record<GameWay, ReadonlyArray<BoundRoute>>> = {
    known: [withForm("/verify/game/known", chooseBy(flows.chooseKnown))],
    connection: [withForm("/verify/game/connection", chooseBy(flows.chooseConnection))],
    oauth: [pageAt("/verify/game/start", start("game")), pageAt("/verify/game/callback", finish("game"))],
    words: [
      pageAt("/verify/game/words", showWords),
      withForm("/verify/game/words", nameAccount),
      withForm("/verify/game/words/check", checkWords),
      fileRoute(wordsScriptPath, "text/javascript", () => wordsScript),
    ],
  };

  const routes: ReadonlyArray<BoundRoute> = [
    pageAt("/", () =>
      Effect.map(usableGameWays, ({ ways }) => homePage(pageSettings, addBot, [...ways, "session"])),
    ),
    pageAt("/go", showCode),
    withForm("/go", (context, fields) => enter(context, fields.get("code") ?? "")),
    pageAt("/verify", show),
    pageAt("/verify/chat/start", start("chat")),
    pageAt("/verify/chat/callback", finish("chat")),
    ...gameWays.flatMap((way) => routesOf[way]),
    withForm("/verify/confirm", (context, fields) =>
      confirm(context, {
        ...flowFormOf(fields),
        keeps: fields.get("keep") === "1",
        moves: fields.get("move") === "1" && holderIn(fields),
      }),
    ),
    withForm("/verify/cancel", (context, fields) => cancel(context, flowFormOf(fields))),
    // Requests for the style sheet do not count against limits: error pages need their style even during an outage or
    // after an exceeded limit.
    fileRoute(stylePath, "text/css", () => style),
    fileRoute(countdownPath, "text/css", (request) => {
      const { seconds = "0" } = Object.fromEntries(searchOf(request));
      return countdown(/^\d{1,7}$/.test(seconds) ? Number(seconds) : 0);
    }),
  ];

  const closed = handle(routeId, () => Effect.succeed(namedRefusalPage("no_sign_ins")));

  return { routes, keylessAnswer, closed };
});

/** Whether it loads the address of a form whose answer is the last page: browsers load them as pages too. */
const isOfLastPage = ({ method, url }: HttpRequest) =>
  method === "GET" && /^\/verify\/(?:confirm|cancel)(?:\?|$)/.test(url);

/** Returns the error that logs and metrics report; null if a user caused it. */
const publicOf = (error: Failure): PublicError | null => {
  if (error._tag !== "FlowRefused") return error;
  return error.cause instanceof PlatformUnavailable ? error.cause : null;
};

const errorPage = (error: Failure, { request, clock }: PageContext, cookie: string | null): Page => {
  // An answer to a form or a sign-in cannot be loaded again, so it leads back to the verification.
  const entry = entryIn(cookie, clock.currentTimeMillisUnsafe());
  switch (error._tag) {
    case "FlowRefused":
      return refusalPage(error);
    case "SharedIpRateLimited":
      return namedRefusalPage("too_many", entry);
    case "BadRequest":
      return namedRefusalPage(
        error.problem === "not_found" && !isUnder("/verify", request.url)
          ? "nowhere"
          : unmatched[error.problem],
        entry,
      );
    case "StoreUnavailable":
      return namedRefusalPage("store_down", entry);
    case "InternalError":
      return namedRefusalPage("defect", entry);
  }
};

/** Returns the chat user that the page showed as the holder of the game account; true if the form names none. */
const holderIn = (fields: URLSearchParams): ChatId | true => {
  const holder = fields.get("holder");
  return isChatId(holder) ? holder : true;
};

const flowFormOf = (fields: URLSearchParams): FlowForm => ({
  csrf: fields.get("csrf"),
  sid: fields.get("sid"),
});
