/** The routes of the public verification flow: pages and redirects, without a key. */
import { PlatformUnavailable, type PublicError, SessionSettings, VerificationFlows } from "@accountlink/core";
import type { BadRequest, InternalError, SharedIpRateLimited } from "@accountlink/core/errors";
import {
  entryIn,
  type FlowEntry,
  type FlowError,
  type FlowForm,
  type ProofStep,
} from "@accountlink/core/flow";
import { isGuildId } from "@accountlink/core/ids";
import {
  type BoundRoute,
  type HttpRequest,
  type HttpResponse,
  HttpSettings,
  isUnder,
  type RequestContext,
  type Answer as RouteAnswer,
  searchOf,
  textResponse,
  withHeaders,
} from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { homePage } from "../home/home_page.ts";
import { type Page, stylePath } from "../page.ts";
import { browserCookie, pageCookie } from "../page_cookie.ts";
import { makeRender, readerOf } from "../page_render.ts";
import { makePageHandler, type PageContext, readForm, redirectTo } from "../page_requests.ts";
import { PageSettings } from "../page_settings.ts";
import { style } from "../style.ts";
import { cancelledPage, donePage, type FlowReader, flowPage, queryOf } from "./pages.ts";
import { type CodeRefusal, codePage, namedRefusalPage, refusalPage, unmatched } from "./refusals.ts";

type Refused = FlowError | SharedIpRateLimited | BadRequest;
type Failure = Refused | InternalError;
type Answer = Effect.Effect<HttpResponse, Refused>;

/** The route that metrics and logs show for the whole flow, because its paths are not in the contract. */
const stepRoute = { id: "verify", generation: "v2", group: null } as const;

/**
 * Makes the routes of the flow, and the following for other routes:
 * - `keylessAnswer` makes an answer that shows errors as pages.
 * - `closed` is the answer of pages that need a sign-in, if nobody can sign in.
 */
export const flowRoutes = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const flows = yield* VerificationFlows;
  const cookie = pageCookie("accountlink_flow", { path: "/", publicUrl: settings.publicUrl });
  const pageSettings = yield* PageSettings;
  const { sightingRetention } = yield* SessionSettings;
  const markCookie = browserCookie(settings.publicUrl, sightingRetention);
  const callbackUri = (step: ProofStep) => `${settings.publicUrl}/verify/${step}/callback`;

  const renderPage = yield* makeRender;
  const readerIn = ({ language }: PageContext): FlowReader => ({
    ...readerOf(pageSettings, language),
    sightingRetention,
  });

  const handle = yield* makePageHandler<Failure>({
    publicOf,
    render: (error, context) =>
      renderPage(errorPage(error, context, readerIn(context), cookie.read(context)), context),
  });

  const bind = (
    method: "GET" | "POST",
    path: "/" | "/go" | `/verify${string}`,
    answer: (context: PageContext) => Answer,
  ): BoundRoute => ({ method, path, answer: handle(stepRoute, answer) });

  const show = (context: PageContext): Answer => {
    const entry = entryOf(context);
    if (entry === null)
      return Effect.succeed(renderPage(namedRefusalPage("no_entry", readerIn(context)), context));
    return Effect.map(flows.view(entry, cookie.read(context)), (view) => {
      const now = context.clock.currentTimeMillisUnsafe();
      const page = flowPage(view, readerIn(context), now);
      return cookie.write(renderPage(page, context), view.cookie);
    });
  };

  const showCodePage = (context: PageContext, refused: CodeRefusal | null, typed = ""): HttpResponse =>
    renderPage(codePage(context.language, refused, typed), context);

  const enter = (context: PageContext, typed: string): Answer =>
    flows.enterByCode(typed, context.address).pipe(
      Effect.map(({ entry }) => redirectTo(303, `/verify?${queryOf(entry)}`)),
      Effect.catchTag("FlowRefused", (error) =>
        error.reason === "unknown_code" || error.reason === "ended_code"
          ? Effect.succeed(showCodePage(context, error.reason, typed))
          : Effect.fail(error),
      ),
      Effect.catchTag("SharedIpRateLimited", ({ retryAfter }) =>
        Effect.succeed(
          showCodePage(context, "too_many_codes", typed).withHeaders({ "retry-after": String(retryAfter) }),
        ),
      ),
    );

  const showCode = (context: PageContext): Answer => {
    const { code } = context.query;
    return isGiven(code) ? enter(context, code) : Effect.succeed(showCodePage(context, null));
  };

  const start =
    (step: ProofStep) =>
    (context: PageContext): Answer =>
      Effect.map(flows.start(step, entryOf(context), cookie.read(context), callbackUri(step)), (started) =>
        cookie.write(redirectTo(302, started.url), started.cookie),
      );

  const finish =
    (step: ProofStep) =>
    (context: PageContext): Answer =>
      Effect.map(
        flows.finish(step, cookie.read(context), searchOf(context.request), callbackUri(step)),
        // The URL of the callback works only once. Redirect to another URL, so that the back and reload buttons do not
        // request the callback again.
        (proven) => cookie.write(redirectTo(303, `/verify?${queryOf(proven.entry)}`), proven.cookie),
      );

  const confirm = (context: PageContext, form: FlowForm): Answer => {
    const { address, requestId } = context;
    const from = { address, browser: markCookie.read(context), requestId };
    return Effect.map(flows.confirm(cookie.read(context), form, from), (confirmed): HttpResponse => {
      const response =
        confirmed.redirect === null
          ? renderPage(donePage(confirmed, readerIn(context)), context)
          : redirectTo(303, confirmed.redirect);
      return confirmed.browser === null ? response : markCookie.write(response, confirmed.browser);
    });
  };

  const cancel = (context: PageContext, form: FlowForm): Answer =>
    Effect.map(flows.cancel(cookie.read(context), form), (ended) =>
      renderPage(cancelledPage(ended, readerIn(context)), context),
    );

  const withForm =
    <Form>(formOf: (fields: URLSearchParams) => Form, answer: (context: PageContext, form: Form) => Answer) =>
    (context: PageContext): Answer =>
      Effect.matchEffect(readForm(context.request, maxFormBytes), {
        onFailure: () =>
          Effect.succeed(renderPage(namedRefusalPage("unreadable", readerIn(context)), context)),
        onSuccess: (fields) => answer(context, formOf(fields)),
      });

  const routes: ReadonlyArray<BoundRoute> = [
    bind("GET", "/", (context) => Effect.succeed(renderPage(homePage(readerIn(context)), context))),
    bind("GET", "/go", showCode),
    bind(
      "POST",
      "/go",
      withForm((fields) => fields.get("code") ?? "", enter),
    ),
    bind("GET", "/verify", show),
    bind("GET", "/verify/chat/start", start("chat")),
    bind("GET", "/verify/chat/callback", finish("chat")),
    bind("GET", "/verify/game/start", start("game")),
    bind("GET", "/verify/game/callback", finish("game")),
    bind("POST", "/verify/confirm", withForm(flowFormOf, confirm)),
    bind("POST", "/verify/cancel", withForm(flowFormOf, cancel)),
    // Requests for the style sheet do not count against limits: error pages need their style even during an outage or
    // after an exceeded limit.
    { method: "GET", path: stylePath, answer: withHeaders(stepRoute.id, () => Effect.succeed(styleSheet)) },
  ];
  const keylessAnswer = (id: string, answer: (request: HttpRequest) => Answer): RouteAnswer =>
    handle({ id, generation: "v2", group: null }, ({ request }) => answer(request));

  const closed = handle(stepRoute, (context) =>
    Effect.succeed(renderPage(namedRefusalPage("no_sign_ins", readerIn(context)), context)),
  );

  return { routes, keylessAnswer, closed };
});

/** Returns the error that logs and metrics report; null if a user caused it. */
const publicOf = (error: Failure): PublicError | null => {
  if (error._tag !== "FlowRefused") return error;
  return error.cause instanceof PlatformUnavailable ? error.cause : null;
};

const errorPage = (
  error: Failure,
  { request, clock }: PageContext,
  reader: FlowReader,
  cookie: string | null,
): Page => {
  switch (error._tag) {
    case "FlowRefused":
      return refusalPage(error, reader);
    case "SharedIpRateLimited":
      return namedRefusalPage("too_many", reader);
    case "BadRequest":
      return namedRefusalPage(
        error.problem === "not_found" && !isUnder("/verify", request.url)
          ? "nowhere"
          : unmatched[error.problem],
        reader,
        entryIn(cookie, clock.currentTimeMillisUnsafe()),
      );
    case "StoreUnavailable":
      return namedRefusalPage("store_down", reader);
    case "InternalError":
      return namedRefusalPage("defect", reader);
  }
};

/** Returns the session or scope that the query names; null if it names none, or a parameter is repeated or malformed. */
const entryOf = ({ query }: RequestContext): FlowEntry | null => {
  const { sid, pid, guildId, redirect } = query;
  if ([sid, pid, guildId, redirect].some((value) => Array.isArray(value))) return null;
  if (isGiven(sid)) return { sid };
  if (!isGiven(pid) || (isGiven(guildId) && !isGuildId(guildId))) return null;
  return { pid, guildId: isGiven(guildId) ? guildId : null, redirect: isGiven(redirect) ? redirect : null };
};

const isGiven = (value: unknown): value is string => typeof value === "string" && value !== "";

const maxFormBytes = 4_096;

const flowFormOf = (fields: URLSearchParams): FlowForm => ({
  csrf: fields.get("csrf"),
  sid: fields.get("sid"),
  keeps: fields.get("keep") === "1",
});

const styleSheet = textResponse(200, style, "text/css; charset=utf-8", {
  "cache-control": "public, max-age=3600",
  "x-content-type-options": "nosniff",
});
