import { type ChatId, LinkStore } from "@accountlink/core";
import { AltReviewStore } from "@accountlink/core/alts";
import { IdempotencyStore, type IdempotentWrite, type KeptAnswer } from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { Effect, Option } from "effect";
import { makeKey, makeSession, uniqueText } from "../../mod.ts";
import { linkSteps } from "../links/link_steps.ts";
import { ada, bob, chess, cyd, makeScopes, origin, poker } from "../scopes.ts";

/** A request with a new idempotency key, at time 0, whose answer is kept until time 100. */
export const newRequest = (parts: Partial<IdempotentWrite> = {}): IdempotentWrite => ({
  id: uniqueText(),
  fingerprint: "content",
  chatIds: [],
  at: 0,
  endsAt: 100,
  ...parts,
});

export const newAnswer = (...chatIds: ReadonlyArray<ChatId>): KeptAnswer => ({
  answer: uniqueText(),
  chatIds,
});

export const answered = <O, E>(write: Effect.Effect<O, E>, answer: KeptAnswer) =>
  Effect.map(write, (outcome) => [outcome, answer] as const);

export const idempotencySteps = Effect.map(IdempotencyStore, (store) => ({
  find: ({ id }: IdempotentWrite) => Effect.map(store.find(id), Option.getOrNull),
  /** Returns the outcome, or null if the key is taken. */
  commit: <O, E>(
    request: IdempotentWrite,
    write: Effect.Effect<O, E>,
    answer: KeptAnswer = newAnswer(),
    size?: "bulk",
  ) => Effect.map(store.commit(request, answered(write, answer), size), Option.getOrNull),
  sweep: store.sweep,
}));

/** Creates a scope with a link of ada to chess, a review and a session. Returns all idempotent writes by name. */
export const newWritesByName = Effect.gen(function* () {
  const [links, reviews, sessions] = [yield* LinkStore, yield* AltReviewStore, yield* SessionStore];
  const { global } = yield* makeScopes;
  const { pid } = global;
  const context = { ...origin, pid, at: 1 };
  const { entries, find, set } = yield* linkSteps(global);
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

export type WriteName = keyof Effect.Success<typeof newWritesByName>["writes"];
