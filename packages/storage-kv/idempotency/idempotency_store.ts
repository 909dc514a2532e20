/** `IdempotencyStore` on a key-value store. */
import {
  type Claim,
  type EarlierRequest,
  IdempotencyStore,
  type KeptWrite,
  type NewClaim,
} from "@accountlink/core/idempotency";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";
import { requests } from "../records/collections.ts";
import { Database } from "../records/database.ts";
import { forget } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";

export const layer: Layer.Layer<IdempotencyStore, never, Database> = Layer.effect(
  IdempotencyStore,
  Effect.map(Database, (db) =>
    IdempotencyStore.of({
      claim: (write) => db.write("IdempotencyStore.claim", (tx) => claim(tx, write)),
      extend: (held, endsAt) => db.write("IdempotencyStore.extend", (tx) => extend(tx, held, endsAt)),
      commit: (held, kept) => db.write("IdempotencyStore.commit", (tx) => commit(tx, held, kept)),
      release: (held) => db.write("IdempotencyStore.release", (tx) => release(tx, held)),
      sweep: (at) =>
        Effect.asVoid(
          forget(db, "IdempotencyStore.sweep", requests, ["deadline"], ({ endsAt }) => endsAt <= at),
        ),
    }),
  ),
);

/** The claim of a request that has no answer. */
const heldBy = (tx: Transaction, { id, requestId }: Claim) =>
  Effect.map(requests.find(tx, id), (request) =>
    request?.requestId === requestId && request.kept === null ? request : undefined,
  );

const claim = Effect.fnUntraced(function* (tx: Transaction, { at, ...claimed }: NewClaim) {
  const request = yield* requests.find(tx, claimed.id);
  if (request !== undefined && at < request.endsAt) {
    const { fingerprint, kept } = request;
    return Option.some<EarlierRequest>({ fingerprint, answer: kept?.answer ?? null });
  }
  yield* requests.put(tx, { ...claimed, kept: null });
  return Option.none<EarlierRequest>();
});

const extend = Effect.fnUntraced(function* (tx: Transaction, held: Claim, endsAt: Millis) {
  const request = yield* heldBy(tx, held);
  if (request !== undefined) yield* requests.put(tx, { ...request, endsAt });
});

/** The write joins this transaction, as every operation does that runs within another. */
const commit = Effect.fnUntraced(function* <O, E>(
  tx: Transaction,
  held: Claim,
  { write, answerOf }: KeptWrite<O, E>,
) {
  const request = yield* heldBy(tx, held);
  if (request === undefined) return Option.none<O>();
  const outcome = yield* write;
  const kept = yield* answerOf(outcome);
  yield* requests.put(tx, { ...request, kept, endsAt: kept.endsAt });
  return Option.some(outcome);
});

const release = Effect.fnUntraced(function* (tx: Transaction, held: Claim) {
  if ((yield* heldBy(tx, held)) !== undefined) yield* requests.remove(tx, held.id);
});
