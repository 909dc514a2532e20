import {
  type Claim,
  type EarlierRequest,
  IdempotencyStore,
  type KeptAnswer,
  type NewClaim,
} from "@accountlink/core/idempotency";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";
import { Database } from "../records/database.ts";
import { type IdempotentRequest, requests } from "../records/schema.ts";
import { forget } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";

export const layer: Layer.Layer<IdempotencyStore, never, Database> = Layer.effect(
  IdempotencyStore,
  Effect.map(Database, (db) =>
    IdempotencyStore.of({
      claim: (write) => db.write("IdempotencyStore.claim", (tx) => claim(tx, write)),
      find: (id) => db.find("IdempotencyStore.find", (tx) => find(tx, id)),
      extend: (held, until) =>
        db.write("IdempotencyStore.extend", (tx) => hold(tx, held, held.requestId, until)),
      commit: (held, write) => db.write("IdempotencyStore.commit", (tx) => commit(tx, held, write)),
      release: (held) => db.write("IdempotencyStore.release", (tx) => hold(tx, held, "", 0)),
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
    request?.requestId === requestId && request.answer === null ? request : undefined,
  );

const earlier = ({ fingerprint, answer, isErased }: IdempotentRequest): EarlierRequest => ({
  fingerprint,
  answer,
  isErased,
});

const find = (tx: Transaction, id: Claim["id"]) =>
  Effect.map(requests.find(tx, id), (request) => Option.map(Option.fromUndefinedOr(request), earlier));

const claim = Effect.fnUntraced(function* (tx: Transaction, { at, ...claimed }: NewClaim) {
  const request = yield* requests.find(tx, claimed.id);
  if (request !== undefined && at < (request.heldUntil ?? request.endsAt)) {
    return Option.some(earlier(request));
  }
  yield* requests.put(tx, { ...claimed, answer: null, isErased: false });
  return Option.none<EarlierRequest>();
});

/** @param requestId who holds the key from now on; empty for nobody */
const hold = Effect.fnUntraced(function* (
  tx: Transaction,
  held: Claim,
  requestId: string,
  heldUntil: Millis,
) {
  const request = yield* heldBy(tx, held);
  if (request === undefined) return;
  yield* requests.put(tx, { ...request, requestId, heldUntil });
});

/** The write joins this transaction, as every operation does that runs within another. */
const commit = Effect.fnUntraced(function* <O, E>(
  tx: Transaction,
  held: Claim,
  write: Effect.Effect<readonly [O, KeptAnswer], E>,
) {
  const request = yield* heldBy(tx, held);
  if (request === undefined) return Option.none<O>();
  const [outcome, kept] = yield* write;
  yield* requests.put(tx, { ...request, ...kept, heldUntil: null });
  return Option.some(outcome);
});
