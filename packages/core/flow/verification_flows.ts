import { Clock, Context, Effect, Layer, Metric, Option } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import type { SharedIpRateLimited, StoreUnavailable } from "../errors.ts";
import { isSid, type SessionId, type Sid } from "../ids.ts";
import { makeFailureLimit } from "../limits/failure_limit.ts";
import { Secrets } from "../secrets/secrets.ts";
import { readCode } from "../secrets/session_code.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { type ConfirmedFrom, type FlowForm, makeCancel, makeConfirm } from "./confirm_flow.ts";
import type { ProofStep } from "./flow_store.ts";
import {
  type FlowConfirmed,
  type FlowEnded,
  type FlowEntry,
  FlowRefused,
  type FlowView,
  type WithCookie,
} from "./flow_view.ts";
import type { Cookie } from "./held_flow.ts";
import { makeFinish, makeStart } from "./prove_account.ts";
import { makeView } from "./view_flow.ts";

export type FlowError = FlowRefused | StoreUnavailable;

/**
 * The public verification flow: a browser proves a chat account and a game account, and confirms their link. A cookie
 * identifies the browser and changes with every proof, so a cookie planted by an attacker is useless after the first
 * proof.
 *
 * @example
 * ```ts
 * import { FlowRefused } from "@accountlink/core/flow";
 * import { memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld();
 * const { sid } = await world.sessions.create({ clientId: "7" });
 * const view = (entry: { sid: string }) =>
 *   Effect.flatMap(VerificationFlows, (flows) => flows.view(entry, null));
 * (await world.run(view({ sid }))).asking; // "acme"
 * const refused = await world.run(Effect.flip(view({ sid: "vs_unknown" })));
 * refused instanceof FlowRefused && refused.reason; // "unknown"
 * await world.close();
 * ```
 */
export class VerificationFlows extends Context.Service<
  VerificationFlows,
  {
    /** Shows the page of the flow. It changes nothing, because link previews fetch it too. */
    readonly view: (entry: FlowEntry, cookie: Cookie) => Effect.Effect<FlowView & WithCookie, FlowError>;

    /**
     * Starts to prove an account. If it is the chat account, this opens the session.
     *
     * @param entry null to continue the flow of the browser
     * @param redirectUri the URL of the callback
     * @returns the URL of the sign-in
     */
    readonly start: (
      step: ProofStep,
      entry: FlowEntry | null,
      cookie: Cookie,
      redirectUri: string,
    ) => Effect.Effect<{ readonly url: string; readonly entry: FlowEntry } & WithCookie, FlowError>;

    /** Checks and stores the proof when the browser returns from a platform. */
    readonly finish: (
      step: ProofStep,
      cookie: Cookie,
      callback: URLSearchParams,
      redirectUri: string,
    ) => Effect.Effect<{ readonly entry: FlowEntry } & WithCookie, FlowError>;

    /** Finds the session of a typed code. An address that sent 10 wrong codes within a minute is refused. */
    readonly enterByCode: (
      typed: string,
      address: ClientAddress | null,
    ) => Effect.Effect<{ readonly entry: { readonly sid: Sid } }, FlowError | SharedIpRateLimited>;

    /**
     * Links the two proven accounts, or keeps the user's existing link. Without a session, the confirmation counts
     * towards the limit of the address, if the address is known.
     */
    readonly confirm: (
      cookie: Cookie,
      form: FlowForm,
      from: ConfirmedFrom,
    ) => Effect.Effect<FlowConfirmed, FlowError | SharedIpRateLimited>;

    /** Ends the flow and cancels its session. */
    readonly cancel: (cookie: Cookie, form: FlowForm) => Effect.Effect<FlowEnded, FlowError>;
  }
>()("@accountlink/core/VerificationFlows") {
  static readonly layer = Effect.gen(function* () {
    const observe = yield* makeFlowObserver;
    const enterByCode = yield* makeEnterByCode;
    const view = yield* makeView;
    const start = yield* makeStart;
    const finish = yield* makeFinish;
    const confirm = yield* makeConfirm;
    const cancel = yield* makeCancel;
    return VerificationFlows.of({
      // If the cookie stays the same, the browser has entered before, and the step is not recorded again.
      view: (entry, cookie) => observe("entered", view(entry, cookie), (page) => page.cookie !== cookie),
      enterByCode: (...args) => observe("code_entered", enterByCode(...args)),
      start: (step, ...args) => observe(`${step}_started`, start(step, ...args)),
      finish: (step, ...args) => observe(`${step}_proven`, finish(step, ...args)),
      confirm: (...args) => observe("completed", confirm(...args)),
      cancel: (...args) => observe("cancelled", cancel(...args)),
    });
  }).pipe(Layer.effect(VerificationFlows));
}

/** Wrong codes that an address may send in a minute. */
const wrongCodeLimit = 10;

/** @internal */
export const makeEnterByCode = Effect.gen(function* () {
  const sessions = yield* SessionStore;
  const secrets = yield* Secrets;
  const wrongCodes = yield* makeFailureLimit("code", wrongCodeLimit);

  /** The page may say that a code has ended, because an ended code is useless to an attacker. */
  const reasonOf = Effect.fnUntraced(function* (code: string | null) {
    const hasEnded = code !== null && (yield* sessions.knowsCode(yield* secrets.codeHash(code)));
    return hasEnded ? "ended_code" : "unknown_code";
  });

  const find = Effect.fnUntraced(function* (code: string) {
    const sealed = yield* sessions.findSealedSid(
      yield* secrets.codeHash(code),
      yield* Clock.currentTimeMillis,
    );
    return Option.isNone(sealed) ? Option.none() : yield* secrets.openSid(code, sealed.value);
  });

  return Effect.fn("VerificationFlows.enterByCode")(function* (typed: string, address: ClientAddress | null) {
    // After too many wrong codes, an address is refused before its code is looked up.
    const refusal = yield* wrongCodes.refusal(address);
    if (refusal !== null) return yield* refusal;
    const code = readCode(typed);
    const sid = code === null ? Option.none() : yield* find(code);
    if (Option.isSome(sid)) return { entry: { sid: sid.value } };
    yield* wrongCodes.count(address, 1);
    return yield* new FlowRefused({ reason: yield* reasonOf(code), entry: null });
  });
});

/** @internal */
export const stepsTotal = Metric.counter("accountlink_flow_steps_total", {
  description: "Steps of verification flows by outcome",
  incremental: true,
});

export type FlowEvent =
  | "entered"
  | "code_entered"
  | `${ProofStep}_started`
  | `${ProofStep}_proven`
  | "completed"
  | "cancelled";

type FlowFailure = FlowRefused | SharedIpRateLimited | StoreUnavailable;

/**
 * Makes a function that logs and counts a step of a flow. The log annotation `session` is the start of the session's
 * stored id. The caller adds the annotation of the request id.
 *
 * @internal
 */
export const makeFlowObserver = Effect.map(Secrets, ({ sessionId }) => {
  const sessionIn = (entry: FlowEntry | null): Effect.Effect<string | null> =>
    entry !== null && "sid" in entry && isSid(entry.sid)
      ? Effect.map(sessionId(entry.sid), shortId)
      : Effect.succeed(null);

  const record = Effect.fnUntraced(function* (step: FlowEvent, outcome: string, entry: FlowEntry | null) {
    yield* Metric.update(Metric.withAttributes(stepsTotal, { step, outcome }), 1);
    yield* Effect.annotateLogs(Effect.logInfo(outcome === "ok" ? "Flow step" : "Flow step refused"), {
      step,
      outcome,
      session: yield* sessionIn(entry),
    });
  });

  /** @param isEvent returns false for a success that is not recorded as a step, such as the reload of a page */
  return <A extends { readonly entry: FlowEntry }, E extends FlowFailure, R>(
    step: FlowEvent,
    effect: Effect.Effect<A, E, R>,
    isEvent: (result: A) => boolean = () => true,
  ): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.tap((result) => (isEvent(result) ? record(step, "ok", result.entry) : Effect.void)),
      Effect.tapError((error) => record(step, outcomeOf(error), "entry" in error ? error.entry : null)),
    );
});

const shortId = (id: SessionId): string => id.slice("vs_".length, "vs_".length + 8);

const outcomeOf = (error: FlowFailure): string => {
  switch (error._tag) {
    case "FlowRefused":
      return error.state ?? error.reason;
    case "SharedIpRateLimited":
      return "too_many";
    case "StoreUnavailable":
      return "store_down";
  }
};
