import { type ChatId, LinkStore } from "@accountlink/core";
import { AltReviewStore } from "@accountlink/core/alts";
import { type Claim, IdempotencyStore, type KeptAnswer, type NewClaim } from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { Effect, Option } from "effect";
import { makeKey, makeSession, uniqueText } from "../../mod.ts";
import { linkFixture } from "../links/link_fixture.ts";
import { ada, bob, chess, cyd, makeScopes, origin, poker } from "../scopes.ts";

/** A claim that holds a new idempotency key from time 0 to 10, and is stored until time 100. */
export const newClaim = (parts: Partial<NewClaim> = {}): NewClaim => ({
  id: uniqueText(),
  requestId: `req_${uniqueText()}`,
  fingerprint: "content",
  chatIds: [],
  at: 0,
  heldUntil: 10,
  endsAt: 100,
  ...parts,
});

/** A retry of a request with the same idempotency key. */
export const retryOf = ({ id }: Claim, at: number, fingerprint = "content"): NewClaim =>
  newClaim({ id, fingerprint, at, heldUntil: at + 10, endsAt: at + 100 });

/** An answer that is stored until time 100. */
export const newAnswer = (...chatIds: ReadonlyArray<ChatId>): KeptAnswer => ({
  answer: uniqueText(),
  chatIds,
  endsAt: 100,
});

export const answered = <O, E>(write: Effect.Effect<O, E>, answer: KeptAnswer) =>
  Effect.map(write, (outcome) => [outcome, answer] as const);

export const idempotencyFixture = Effect.map(IdempotencyStore, (store) => ({
  /** Returns the request that claimed the key before, or null if this claim holds it now. */
  claim: (claim: NewClaim) => Effect.map(store.claim(claim), Option.getOrNull),
  find: ({ id }: Claim) => Effect.map(store.find(id), Option.getOrNull),
  commit: <O, E>(claim: Claim, write: Effect.Effect<O, E>, answer: KeptAnswer = newAnswer(), size?: "bulk") =>
    store.commit(claim, answered(write, answer), size),
  extend: store.extend,
  release: store.release,
  sweep: store.sweep,
}));

/** Creates a scope with a link of ada to chess, a review and a session. Returns all idempotent writes by name. */
export const writesFixture = Effect.gen(function* () {
  const [links, reviews, sessions] = [yield* LinkStore, yield* AltReviewStore, yield* SessionStore];
  const { global } = yield* makeScopes;
  const { pid } = global;
  const context = { ...origin, pid, at: 1 };
  const { entries, find, set } = yield* linkFixture(global);
  const key = makeKey(global);
  yield* (yield* KeyStore).insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 0 });
  const [opened, created] = [makeSession(key), makeSession(key)];
  yield* set(ada, chess);
  yield* sessions.create({ session: opened, burst: null });
  const pair = { ...context, chatId: ada, otherChatId: cyd };
  const review = { ...pair, verdict: "same", note: null, keyId: key.id } as const;
  yield* reviews.set(review);

  return {
    writes: {
      setGame: links.setGame({ ...context, chatId: ada, gameId: poker }),
      moveChat: links.moveChat({ ...context, oldChatId: ada, newChatId: bob }),
      removeGame: links.removeGame({ ...context, chatId: ada }),
      deleteScope: links.deleteScope(context),
      setReview: reviews.set({ ...review, verdict: "different" }),
      removeReview: reviews.remove(pair),
      createSession: sessions.create({ session: created, burst: { capacity: 1, refillMs: 1_000 } }),
      advanceSession: sessions.advance({ id: opened.id, to: "cancelled", at: 1 }),
    },
    /** Reads everything that the idempotent writes change. */
    state: Effect.all([
      find(ada),
      find(bob),
      reviews.findByChatId(pid, ada, null),
      Effect.map(sessions.find(opened.id), Option.getOrNull),
      Effect.map(sessions.find(created.id), Option.getOrNull),
      entries,
    ]),
  };
});

export type IdempotentWrite = keyof Effect.Success<typeof writesFixture>["writes"];
