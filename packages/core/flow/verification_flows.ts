import { Clock, Context, Effect, Layer, Metric, Option } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import type { SharedIpRateLimited, StoreUnavailable } from "../errors.ts";
import { isSid, sessionInLog } from "../ids.ts";
import { makeFailureLimit } from "../limits/failure_limit.ts";
import { Secrets } from "../secrets/secrets.ts";
import { readCode } from "../secrets/session_code.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { makeFlowEnd } from "./confirm_flow.ts";
import { FlowAccounts } from "./flow_accounts.ts";
import { FlowAdmission } from "./flow_admission.ts";
import type { ProofStep } from "./flow_store.ts";
import { type FlowEntry, FlowRefused } from "./flow_view.ts";
import { HeldFlows } from "./held_flow.ts";
import { makeKnownOffers } from "./known_offers.ts";
import { makeLastPages } from "./last_page.ts";
import { makeProofs } from "./prove_account.ts";
import { makeGameProofs } from "./prove_game.ts";
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
export class VerificationFlows extends Context.Service<VerificationFlows>()(
  "@accountlink/core/VerificationFlows",
  {
    make: Effect.gen(function* () {
      const observe = yield* makeFlowObserver;
      const { start, finish } = yield* makeProofs;
      const views = yield* makeView;
      const { view } = views;
      const { choose, chooseKnown, showWords, name, check } = yield* makeGameProofs(views);
      const { confirm, cancel } = yield* makeFlowEnd;
      const { listKnown, beginKnown } = yield* makeKnownOffers;
      const lastPages = yield* makeLastPages;
      const keepRefusal = <A>(answered: string | null, run: Effect.Effect<A, FlowFailure>) =>
        Effect.catchTag(run, "FlowRefused", lastPages.keepRefusal(answered));
      /** Adds where to get help to the refusals of a step. */
      const helpful =
        <Args extends ReadonlyArray<unknown>, A>(run: (...args: Args) => Effect.Effect<A, FlowFailure>) =>
        (...args: Args) =>
          keepRefusal(null, run(...args));
      return {
        /**
         * Shows the page of the flow. It changes nothing, because link previews fetch it too. If the cookie stays the
         * same, the browser has entered before, and the step is not recorded again.
         */
        view: observe(
          view,
          () => "entered",
          ({ cookie }, [, given]) => cookie !== given,
        ),

        /**
         * Starts to prove an account. If it is the chat account, this opens the session. The entry is null to continue
         * the flow of the browser. Returns the URL of the sign-in, which sends the browser back to `redirectUri`.
         */
        start: observe(start, (step) => `${step}_started`),

        /** Checks and stores the proof when the browser returns from a platform. */
        finish: observe(
          (...args: Parameters<typeof finish>) => keepRefusal(args[2].get("state"), finish(...args)),
          (step) => `${step}_proven`,
        ),

        /** Proves one of the game accounts that the user has proven to other communities. */
        chooseKnown: helpful(observe(chooseKnown, () => "game_proven")),

        /** The communities that a user could link to with one press and the confirmation, see `makeKnownOffers`. */
        listKnown,

        /** Begins a flow of a signed-in user with one of these accounts. */
        beginKnown: helpful(observe(beginKnown, () => "game_proven")),

        /** Proves one of the game accounts that the chat platform named. */
        chooseConnection: helpful(observe(choose, () => "game_proven")),

        /** Shows the page of the way `words`. The entry is null to continue the flow of the browser. */
        showWords: observe(
          showWords,
          () => "words_shown",
          () => false,
        ),

        /**
         * Finds the game account that the user names, and returns the page with the words for it. A flow may look up 10
         * names; each counts towards the limit of the address, if the address is known.
         */
        nameAccount: observe(name, () => "game_named"),

        /**
         * Reads the description of the named account, and proves the account if it has the words. Otherwise returns the
         * page with the words. A flow may do this 30 times; each counts towards the limit of the address.
         */
        checkWords: helpful(observe(check, () => "game_proven")),

        /** Finds the session of a typed code. An address that sent 10 wrong codes within a minute is refused. */
        enterByCode: observe(yield* makeEnterByCode, () => "code_entered"),

        /**
         * Links the two proven accounts, or keeps the user's existing link. Without a session, the confirmation counts
         * towards the limit of the address, if the address is known.
         */
        confirm: observe(
          (...args: Parameters<typeof confirm>) => keepRefusal(args[1].csrf, confirm(...args)),
          () => "completed",
        ),

        /** Ends the flow and cancels its session. */
        cancel: observe(cancel, () => "cancelled"),

        /** Shows the last page of a browser again, see `makeLastPages`. */
        showLast: lastPages.show,
      };
    }),
  },
) {
  static readonly layer = Layer.effect(VerificationFlows, VerificationFlows.make).pipe(
    Layer.provide([HeldFlows.layer, FlowAccounts.layer, FlowAdmission.layer]),
  );
}

/** Wrong codes that an address may send in a minute. */
const wrongCodeLimit = 10;

const makeEnterByCode = Effect.gen(function* () {
  const sessions = yield* SessionStore;
  const secrets = yield* Secrets;
  const wrongCodes = yield* makeFailureLimit("code", wrongCodeLimit);

  /** Finds the sid of a code. None for a code that has ended, and null for one that is unknown. */
  const find = Effect.fnUntraced(function* (code: string) {
    const found = yield* sessions.findByCode(yield* secrets.codeHash(code), yield* Clock.currentTimeMillis);
    if (found === null) return null;
    return found.sealedSid === null ? Option.none() : yield* secrets.openSid(code, found.sealedSid);
  });

  return Effect.fn("VerificationFlows.enterByCode")(function* (typed: string, address: ClientAddress | null) {
    // After too many wrong codes, an address is refused before its code is looked up.
    const refusal = yield* wrongCodes.refusal(address);
    if (refusal !== null) return yield* refusal;
    const code = readCode(typed);
    const sid = code === null ? null : yield* find(code);
    if (sid !== null && Option.isSome(sid)) return { entry: { sid: sid.value } };
    yield* wrongCodes.count(address, 1);
    // The page may say that a code has ended, because an ended code is useless to an attacker.
    return yield* new FlowRefused({ reason: sid === null ? "unknown_code" : "ended_code", entry: null });
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
  | "words_shown"
  | "game_named"
  | "completed"
  | "cancelled";

type FlowFailure = FlowRefused | SharedIpRateLimited | StoreUnavailable;

/**
 * Makes a function that logs and counts a step of a flow. The log annotation `session` is the start of the session's
 * stored id. The caller adds the annotation of the request id.
 */
const makeFlowObserver = Effect.map(Secrets, ({ sessionId }) => {
  const sessionIn = (entry: FlowEntry | null): Effect.Effect<string | null> =>
    entry !== null && "sid" in entry && isSid(entry.sid)
      ? Effect.map(sessionId(entry.sid), sessionInLog)
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
  return <
    Args extends ReadonlyArray<unknown>,
    A extends { readonly entry: FlowEntry; readonly problem?: string | null },
    E extends FlowFailure,
  >(
    run: (...args: Args) => Effect.Effect<A, E>,
    stepOf: (...args: Args) => FlowEvent,
    isEvent: (result: A, args: Args) => boolean = () => true,
  ) =>
    (...args: Args): Effect.Effect<A, E> =>
      run(...args).pipe(
        Effect.tap((result) =>
          isEvent(result, args) ? record(stepOf(...args), result.problem ?? "ok", result.entry) : Effect.void,
        ),
        Effect.tapError((error) =>
          record(stepOf(...args), outcomeOf(error), "entry" in error ? error.entry : null),
        ),
      );
});

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
