/**
 * The routes of the public verification flow. They take no key, and answer with pages and redirects.
 */
import {
  type BadRequest,
  type FlowEntry,
  type FlowError,
  type FlowForm,
  InternalError,
  PlatformUnavailable,
  type ProofStep,
  type PublicError,
  RequestLimits,
  SecurityLog,
  SessionSettings,
  type SharedIpRateLimited,
  VerificationFlows,
} from "@accountlink/core";
import { ByteSize, Cause, Effect, Option, Result } from "effect";
import { HttpIncomingMessage, HttpServerResponse, UrlParams } from "effect/http";
import { addErrorHeaders } from "../envelope.ts";
import { type Exchange, exchangeOpener } from "../exchange.ts";
import type { BoundRoute } from "../pipeline.ts";
import { observeAnswer } from "../request_metrics.ts";
import { HttpSettings } from "../settings.ts";
import { flowCookie } from "./cookie.ts";
import { footerHtml } from "./footer.ts";
import { type Page, pageResponse, privateHeaders, stylePath } from "./page.ts";
import { PageSettings, type PageSettingsShape } from "./page_settings.ts";
import { cancelledPage, donePage, flowPage, queryOf } from "./pages.ts";
import { ownRefusalPage, refusalPage, unmatchedPage } from "./refusals.ts";
import { style } from "./style.ts";

type Response = HttpServerResponse.HttpServerResponse;
type Refused = FlowError | SharedIpRateLimited | BadRequest;
type Failure = Refused | InternalError;
type Answer<R = never> = Effect.Effect<Response, Refused, R>;

/** What the exchanges of the flow name; its paths are no routes of the contract. */
const stepRoute = { id: "verify", generation: "v2" } as const;

/** The routes of the flow. `visit` answers others that refuse with a page. */
export const flowRoutes = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const flows = yield* VerificationFlows;
  const limits = yield* RequestLimits;
  const security = yield* SecurityLog;
  const withExchange = exchangeOpener(settings);
  const cookie = flowCookie(settings.publicUrl);
  const pageSettings = yield* PageSettings;
  const { sightingRetention } = yield* SessionSettings;
  const callbackUri = (step: ProofStep) => `${settings.publicUrl}/verify/${step}/callback`;

  /** Counts a request against the second of its address, and answers it or refuses it with a page. */
  const answered = <R>(route: Exchange["route"], answer: (exchange: Exchange) => Answer<R>) =>
    withExchange(route, (exchange) =>
      Effect.andThen(limits.admitVisit(exchange.address), answer(exchange)).pipe(
        // Flow events are logged where the steps are taken.
        Effect.annotateLogs({ requestId: exchange.requestId }),
        Effect.matchCauseEffect({
          onSuccess: (response) => observeAnswer(exchange, signed(response, exchange), null),
          onFailure: (cause) => {
            if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>);
            const error = Result.getOrElse(Cause.findError(cause), () => new InternalError({ cause }));
            const told = publicOf(error);
            return Effect.andThen(
              security.noteRefusal(told, exchange.address),
              observeAnswer(exchange, signed(refused(error, exchange), exchange), told),
            );
          },
        }),
      ),
    );

  const bind = (
    method: "GET" | "POST",
    path: `/verify${string}`,
    answer: (exchange: Exchange) => Answer,
  ): BoundRoute => ({ method, path, answer: answered(stepRoute, answer) });

  const respond = (page: Page, { requestId }: Exchange): Response =>
    pageResponse(page, footerHtml(pageSettings, requestId));

  /** The answer to whatever the flow does not go on for. */
  const refused = (error: Failure, exchange: Exchange): Response => {
    const headers: Record<string, string> = {};
    const told = publicOf(error);
    if (told !== null) addErrorHeaders(headers, told);
    return HttpServerResponse.setHeaders(respond(pageOf(error, pageSettings), exchange), headers);
  };

  const show = (exchange: Exchange): Answer => {
    const entry = entryOf(exchange);
    if (entry === null) return Effect.succeed(respond(ownRefusalPage("no_entry", pageSettings), exchange));
    return Effect.map(flows.view(entry, cookie.read(exchange)), (view) => {
      const now = exchange.clock.currentTimeMillisUnsafe();
      const page = flowPage(view, { ...pageSettings, sightingRetention }, now);
      return cookie.write(respond(page, exchange), view.cookie);
    });
  };

  const start =
    (step: ProofStep) =>
    (exchange: Exchange): Answer =>
      Effect.map(flows.start(step, entryOf(exchange), cookie.read(exchange), callbackUri(step)), (begun) =>
        cookie.write(redirect(302, begun.url), begun.cookie),
      );

  const finish =
    (step: ProofStep) =>
    (exchange: Exchange): Answer =>
      Effect.map(
        flows.finish(step, cookie.read(exchange), searchOf(exchange), callbackUri(step)),
        // Back and reload then find the page of the flow, and not a sign-in that was used.
        (proven) => cookie.write(redirect(303, `/verify?${queryOf(proven.entry)}`), proven.cookie),
      );

  const confirm = (exchange: Exchange, form: FlowForm): Answer => {
    const { address, requestId } = exchange;
    return Effect.map(
      flows.confirm(cookie.read(exchange), form, { address, requestId }),
      (confirmed): Response =>
        confirmed.redirect === null
          ? respond(donePage(confirmed, pageSettings), exchange)
          : redirect(303, confirmed.redirect),
    );
  };

  const cancel = (exchange: Exchange, form: FlowForm): Answer =>
    Effect.map(flows.cancel(cookie.read(exchange), form), (ended) =>
      respond(cancelledPage(ended, pageSettings), exchange),
    );

  /** Reads the form that an answer is for. */
  const withForm =
    (answer: (exchange: Exchange, form: FlowForm) => Answer) =>
    (exchange: Exchange): Answer =>
      Effect.matchEffect(readForm(exchange), {
        onFailure: () => Effect.succeed(respond(ownRefusalPage("unreadable", pageSettings), exchange)),
        onSuccess: (form) => answer(exchange, form),
      });

  const routes: ReadonlyArray<BoundRoute> = [
    bind("GET", "/verify", show),
    bind("GET", "/verify/chat/start", start("chat")),
    bind("GET", "/verify/chat/callback", finish("chat")),
    bind("GET", "/verify/game/start", start("game")),
    bind("GET", "/verify/game/callback", finish("game")),
    bind("POST", "/verify/confirm", withForm(confirm)),
    bind("POST", "/verify/cancel", withForm(cancel)),
    {
      method: "GET",
      path: stylePath,
      // It asks no store and is not counted: a page that says what is down, or was too much, needs it as well.
      answer: withExchange(stepRoute, (exchange) =>
        observeAnswer(exchange, signed(styleSheet, exchange), null),
      ),
    },
  ];
  const visit = <R>(id: string, answer: Answer<R>) => answered({ id, generation: "v2" }, () => answer);

  return { routes, visit };
});

const signed = (response: Response, { requestId }: Exchange): Response =>
  HttpServerResponse.setHeader(response, "x-request-id", requestId);

/** What operators are told of: nothing that users can do about. */
const publicOf = (error: Failure): PublicError | null => {
  if (error._tag !== "FlowRefused") return error;
  return error.cause instanceof PlatformUnavailable ? error.cause : null;
};

const pageOf = (error: Failure, settings: PageSettingsShape): Page => {
  switch (error._tag) {
    case "FlowRefused":
      return refusalPage(error, settings);
    case "SharedIpRateLimited":
      return ownRefusalPage("too_many", settings);
    case "BadRequest":
      return unmatchedPage(error, settings);
    case "StoreUnavailable":
      return ownRefusalPage("store_down", settings);
    case "InternalError":
      return ownRefusalPage("defect", settings);
  }
};

/** What a browser came with; null for nothing, or for a value that is given twice. */
const entryOf = ({ query }: Exchange): FlowEntry | null => {
  const { sid, pid, guildId, redirect } = query;
  if ([sid, pid, guildId, redirect].some((value) => Array.isArray(value))) return null;
  if (isGiven(sid)) return { sid };
  if (!isGiven(pid)) return null;
  return { pid, guildId: isGiven(guildId) ? guildId : null, redirect: isGiven(redirect) ? redirect : null };
};

const isGiven = (value: unknown): value is string => typeof value === "string" && value !== "";

const searchOf = ({ request: { url } }: Exchange): URLSearchParams =>
  new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "");

const maxFormSize = ByteSize.bytes(4_096);

const readForm = ({ request }: Exchange) =>
  request.urlParamsBody.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, maxFormSize),
    Effect.map(
      (params): FlowForm => ({
        csrf: Option.getOrNull(UrlParams.getFirst(params, "csrf")),
        sid: Option.getOrNull(UrlParams.getFirst(params, "sid")),
      }),
    ),
  );

const redirect = (status: 302 | 303, location: string): Response =>
  HttpServerResponse.redirect(location, { status, headers: privateHeaders });

const styleSheet = HttpServerResponse.text(style, {
  contentType: "text/css; charset=utf-8",
  headers: { "cache-control": "public, max-age=3600", "x-content-type-options": "nosniff" },
});
