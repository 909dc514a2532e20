import type { ChatId } from "@accountlink/core";
import { Conflict, type StoreEffect, type StoreUnavailable } from "@accountlink/core/errors";
import {
  type EarlierRequest,
  IdempotencyStore,
  type IdempotentRequest,
  type KeptAnswer,
  type Keyed,
  keptOutcome,
} from "@accountlink/core/idempotency";
import { Effect, Option } from "effect";
import type { Database } from "../database.ts";
import { removeInSteps } from "../steps.ts";
import { keyOf, table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { storeLayer } from "./store_layer.ts";

export interface StoredRequest extends EarlierRequest {
  readonly id: IdempotentRequest["id"];
  /** The chat users that the request or its answer names. */
  readonly chatIds: ReadonlyArray<ChatId>;
}

export const requests = table<StoredRequest>()("request", ({ id }) => [id], {
  byUser: { keys: ({ id, chatIds }) => [...new Set(chatIds)].map((chatId) => [chatId, id]), group: 1 },
  byEnd: { keys: ({ id, endsAt }) => [[endsAt, id]] },
});

type Run<W, O, E> = (
  tx: Transaction,
  write: W,
) => StoreEffect<O, Conflict | E> | Effect.fn.Return<O, StoreUnavailable | Conflict | E>;

/**
 * Makes a write that keeps its idempotency key and its answer.
 *
 * @param keptOf returns the kept part of an outcome; null for a refusal
 * @param queue the name of what a write changes, see `Database.write`
 * @param reads the keys that every write reads
 */
export const keyedWrite =
  <O, W extends Keyed, E = never>(
    db: Database,
    keptOf: (outcome: O, write: W) => unknown,
    queue: (write: W) => string,
    run: Run<W, O, E>,
    reads: (write: W) => ReadonlyArray<string> = () => [],
  ) =>
  (write: W): StoreEffect<O, Conflict | E> =>
    db.write<O, Conflict | E>(queue(write), function* (tx) {
      const { once } = write;
      yield* tx.prefetch([...reads(write), ...(once === undefined ? [] : [keyOf(requests, [once.id])])]);
      if (once !== undefined) yield* takeKey(tx, once);
      const outcome = yield* run(tx, write);
      const kept = once === undefined ? null : keptOf(outcome, write);
      if (once !== undefined && kept !== null) yield* keepAnswer(tx, once, keptOutcome(once, kept));
      return outcome;
    });

const takeKey = Effect.fnUntraced(function* (tx: Transaction, { id, at }: IdempotentRequest) {
  const earlier = yield* tx.get(requests, id);
  if (earlier !== undefined && at < earlier.endsAt)
    return yield* new Conflict({ reason: "idempotency_key_in_use" });
  return undefined;
});

const keepAnswer = (tx: Transaction, request: IdempotentRequest, { answer, chatIds }: KeptAnswer) => {
  const { id, fingerprint, endsAt } = request;
  return tx.put(requests, { id, fingerprint, endsAt, answer, chatIds: [...request.chatIds, ...chatIds] });
};

export const layer = storeLayer(IdempotencyStore, (db) => ({
  keep: (request, answer) =>
    db.write<void, Conflict>(request.id, function* (tx) {
      yield* takeKey(tx, request);
      yield* keepAnswer(tx, request, answer);
    }),

  find: (id) =>
    db.read(function* (tx) {
      return Option.map(Option.fromUndefinedOr(yield* tx.get(requests, id)), requestOf);
    }),

  sweep: (at) =>
    Effect.asVoid(removeInSteps(db, requests.byEnd, [], { before: [at + 1] }, ({ endsAt }) => endsAt <= at)),
}));

const requestOf = ({ fingerprint, answer, endsAt }: StoredRequest): EarlierRequest => ({
  fingerprint,
  answer,
  endsAt,
});
