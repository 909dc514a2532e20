/** Finds the flow of a browser by its cookie, checks the forms of its pages, and stores its proofs. */
import { Clock, Context, Effect, Layer, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { type FlowId, isSid, type Pid, type SessionId } from "../ids.ts";
import { randomToken, Secrets } from "../secrets/mod.ts";
import type { Millis } from "../timestamp.ts";
import { anyEntryIn, type Cookie, entryIn, hasExpired, withEntry, withoutEntry } from "./flow_cookie.ts";
import {
  FlowStore,
  isVoided,
  type Proof,
  type SignInChallenge,
  type VerificationFlow,
} from "./flow_store.ts";
import { type FlowSubject, FlowSubjects } from "./flow_subjects.ts";
import { type FlowEntry, FlowRefused } from "./flow_view.ts";

/** A flow that was found by a browser's cookie. With its `entry`, the browser can open this flow again. */
export interface HeldFlow extends VerificationFlow {
  readonly entry: FlowEntry;
}

export interface FlowForm {
  readonly csrf: string | null;
  /** The session of the page, which can outlive the flow; null without a session. */
  readonly sid: string | null;
}

/** The flows that browsers hold by their cookies. Every step of a flow begins here. */
export class HeldFlows extends Context.Service<HeldFlows>()("@accountlink/core/HeldFlows", {
  make: Effect.gen(function* () {
    const flows = yield* FlowStore;
    const subjects = yield* FlowSubjects;
    const secrets = yield* Secrets;
    const random = yield* SecureRandom.SecureRandom;

    const idOf = (cookie: string): Effect.Effect<FlowId> => secrets.flowId(withoutEntry(cookie));

    const newCookie = (expiresAt: Millis): Effect.Effect<string> =>
      Effect.map(randomToken(random), (token) => `${token}.${expiresAt.toString(36)}`);

    const entryOf = Effect.fnUntraced(function* (
      { session, pid, guildId, redirect }: VerificationFlow,
      claimed: FlowEntry | null,
    ) {
      if (session === null) return { pid, guildId, redirect };
      if (claimed === null || !("sid" in claimed) || !isSid(claimed.sid)) return null;
      return (yield* secrets.sessionId(claimed.sid)) === session ? claimed : null;
    });

    const find = Effect.fnUntraced(function* (cookie: Cookie) {
      if (cookie === null) return null;
      const now = yield* Clock.currentTimeMillis;
      const flow = Option.getOrNull(yield* flows.find(yield* idOf(cookie), now));
      const entry = flow === null ? null : yield* entryOf(flow, entryIn(cookie, now));
      return flow === null || entry === null ? null : ({ ...flow, entry } satisfies HeldFlow);
    });

    const refuseGone = Effect.fnUntraced(function* (cookie: Cookie, given: FlowEntry | null) {
      const entry = given ?? anyEntryIn(cookie);
      if (entry !== null && "sid" in entry) yield* subjects.resolve(entry);
      const reason = (yield* hasExpired(cookie)) ? "expired" : "lost";
      return yield* new FlowRefused({ reason, entry });
    });

    const lastEntry = Effect.fnUntraced(function* (held: HeldFlow | null, cookie: Cookie) {
      return held?.entry ?? entryIn(cookie, yield* Clock.currentTimeMillis);
    });

    const checkForm = Effect.fnUntraced(function* (
      id: FlowId,
      subject: SessionId | Pid,
      { csrf }: FlowForm,
      entry: FlowEntry,
    ) {
      if (csrf !== (yield* secrets.flowCsrf(id, subject))) {
        return yield* new FlowRefused({ reason: "forged", entry });
      }
    });

    /** Refuses a form of another session. The browser began another verification after the form's page was shown. */
    const checkSession = Effect.fnUntraced(function* (entry: FlowEntry, { sid }: FlowForm) {
      if (sid === null || ("sid" in entry && entry.sid === sid)) return;
      yield* subjects.resolve({ sid });
      return yield* new FlowRefused({ reason: "unfinished", entry: { sid } });
    });

    const refuseForm = (cookie: Cookie, { sid }: FlowForm) =>
      refuseGone(cookie, sid === null ? null : { sid });

    return {
      idOf,
      newCookie,

      /** Stores a new flow without proofs, with its first challenge if it has one, and returns its cookie. */
      begin: Effect.fnUntraced(function* (
        subject: FlowSubject,
        entry: FlowEntry,
        challenge: Omit<SignInChallenge, "flow"> | null = null,
      ) {
        const { session, pid, guildId, redirect, expiresAt } = subject;
        const cookie = yield* newCookie(expiresAt);
        const id = yield* idOf(cookie);
        const unproven = { chatId: null, gameId: null, gameProof: null, seenVersion: null };
        const unnamed = { connections: [], named: null, wordSeed: yield* randomToken(random) };
        const flow = { id, session, pid, guildId, redirect, ...unproven, ...unnamed, expiresAt };
        yield* flows.begin(flow, challenge === null ? undefined : { ...challenge, flow: id });
        return withEntry(cookie, entry);
      }),

      /**
       * Returns the flow of a cookie, or null. The cookie contains a sid and the flow contains a hash of its sid, so a
       * cookie with another sid finds no flow.
       */
      find,

      /** Returns the entry of a browser's flow, or without a flow, the last entry in the cookie. */
      lastEntry,

      /**
       * Finds what a browser holds, its last entry if the request names none, and the session or scope of the entry. `flow`
       * is the held flow, or null if it belongs to another session or scope. Fails if there is no entry.
       */
      enter: Effect.fnUntraced(function* (given: FlowEntry | null, cookie: Cookie) {
        if (given !== null) {
          const found = { held: find(cookie), subject: subjects.resolve(given) };
          const { held, subject } = yield* Effect.all(found, { concurrency: "unbounded" });
          return { held, flow: ownOf(held, subject), subject, entry: given };
        }
        const held = yield* find(cookie);
        const entry = yield* lastEntry(held, cookie);
        if (entry === null) return yield* refuseGone(cookie, null);
        const subject = yield* subjects.resolve(entry);
        return { held, flow: ownOf(held, subject), subject, entry };
      }),

      /**
       * Refuses a request whose flow is gone. If its session has ended, the refusal says how; else it is `expired` if
       * the cookie's deadline has passed, or `lost`. Without an `entry`, the cookie's last one leads back.
       */
      refuseGone,

      /** Refuses a form that does not come from a page of this flow. */
      checkForm,

      refuseForm,

      /** Returns the flow that a form belongs to, and its session or scope. */
      ofForm: Effect.fnUntraced(function* (cookie: Cookie, form: FlowForm) {
        const flow = yield* find(cookie);
        if (flow === null) return yield* refuseForm(cookie, form);
        const { id, session, pid, entry } = flow;
        yield* checkSession(entry, form);
        yield* checkForm(id, session ?? pid, form, entry);
        return { flow, subject: yield* subjects.resolve(entry) };
      }),

      /** Stores a proof, and gives the browser a new cookie. */
      prove: Effect.fnUntraced(function* ({ id, entry, expiresAt }: HeldFlow, proof: Proof, held: Cookie) {
        const cookie = withEntry(yield* newCookie(expiresAt), entry);
        const now = yield* Clock.currentTimeMillis;
        const proven = yield* flows.prove(id, proof, now, yield* idOf(cookie));
        if (Option.isSome(proven)) return { entry, cookie };
        if (proof.step === "game") yield* checkChatProof(yield* find(held), entry, held);
        return yield* refuseGone(held, entry);
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(HeldFlows, HeldFlows.make);
}

export const belongsTo = (flow: VerificationFlow, subject: FlowSubject): boolean =>
  flow.session === subject.session &&
  flow.pid === subject.pid &&
  flow.guildId === subject.guildId &&
  flow.redirect === subject.redirect;

const ownOf = (held: HeldFlow | null, subject: FlowSubject): HeldFlow | null =>
  held !== null && belongsTo(held, subject) ? held : null;

/** Refuses to prove a game account before the chat account, and after the flow of the cookie has expired. */
export const checkChatProof = Effect.fnUntraced(function* (
  flow: VerificationFlow | null,
  entry: FlowEntry,
  cookie: Cookie,
) {
  if (flow !== null && flow.chatId !== null) return;
  if (flow !== null && isVoided(flow)) return yield* new FlowRefused({ reason: "link_changed", entry });
  const isOver = flow === null && (yield* hasExpired(cookie));
  return yield* new FlowRefused({ reason: isOver ? "expired" : "unfinished", entry });
});

/** Refuses the proof of a game account other than the player that the session names. */
export const checkUnnamed = ({ gameId }: FlowSubject, entry: FlowEntry): Effect.Effect<void, FlowRefused> =>
  gameId === null ? Effect.void : new FlowRefused({ reason: "player_named", entry });
