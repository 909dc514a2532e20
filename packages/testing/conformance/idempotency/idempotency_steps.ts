import { type ChatId, type Conflict, LinkStore, type StoreUnavailable } from "@accountlink/core";
import { AltReviewStore } from "@accountlink/core/alts";
import {
  IdempotencyStore,
  type IdempotentRequest,
  type KeptAnswer,
  type Once,
} from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import { advancedSession, SessionStore } from "@accountlink/core/sessions";
import { Effect, Option } from "effect";
import { makeKey, makeSession, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { linkSteps } from "../links/link_steps.ts";
import { ada, bob, chess, cyd, makeScopes, origin, poker } from "../scopes.ts";

/** A request with a new idempotency key, at time 0, whose answer is kept until time 100. */
export const newRequest = (parts: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
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

type Write<O> = (once?: Once) => Effect.Effect<O, Conflict | StoreUnavailable>;

/** Runs a write with its request. Returns the outcome, or null if the key is taken. */
export const commit = <O>(request: IdempotentRequest, write: Write<O>) =>
  Effect.catchTag(write(request), "Conflict", ({ reason }) => {
    expectEqual(reason, "idempotency_key_in_use");
    return Effect.succeed(null);
  });

export const idempotencySteps = Effect.map(IdempotencyStore, (store) => ({
  find: ({ id }: IdempotentRequest) => Effect.map(store.find(id), Option.getOrNull),
  /** Keeps an answer. Returns whether the key was free. */
  keep: (request: IdempotentRequest, answer: KeptAnswer = newAnswer()) =>
    Effect.map(
      commit(request, () => Effect.as(store.keep(request, answer), true)),
      (kept) => kept !== null,
    ),
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
      setGame: (once?: Once) => links.setGame({ ...context, chatId: ada, gameId: poker, once }),
      moveChat: (once?: Once) => links.moveChat({ ...context, oldChatId: ada, newChatId: bob, once }),
      removeGame: (once?: Once) => links.removeGame({ ...context, chatId: ada, once }),
      deleteScope: (once?: Once) => links.deleteScope({ ...context, once }),
      setReview: (once?: Once) => reviews.set({ ...review, verdict: "different", once }),
      removeReview: (once?: Once) => reviews.remove({ ...pair, once }),
      createSession: (once?: Once) =>
        sessions.create({ session: created, burst: { capacity: 1, refillMs: 1_000 }, once }),
      advanceSession: (once?: Once) => sessions.advance({ id: opened.id, to: "cancelled", at: 1, once }),
    },
    /** What is kept of the outcome of each write. */
    kept: {
      setGame: { chatId: ada, gameId: poker, previousGameId: chess },
      moveChat: { previousChatId: ada, chatId: bob, gameId: chess, updated: true },
      removeGame: { chatId: ada, removedGameId: chess, deleted: true },
      deleteScope: 1,
      setReview: {
        chatId: ada,
        otherChatId: cyd,
        verdict: "different",
        note: null,
        keyId: key.id,
        at: context.at,
      },
      removeReview: { chatId: ada, otherChatId: cyd, deleted: true },
      createSession: created,
      advanceSession: advancedSession(opened, "cancelled"),
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
