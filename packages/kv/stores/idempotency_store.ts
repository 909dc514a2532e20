import type { ChatId } from "@accountlink/core";
import { Conflict, type StoreEffect } from "@accountlink/core/errors";
import {
  type EarlierRequest,
  IdempotencyStore,
  type IdempotentRequest,
  type Keyed,
} from "@accountlink/core/idempotency";
import { Effect, Option } from "effect";
import { inSteps, stepSize } from "../steps.ts";
import { keyOf, table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";
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

/** The transaction of a write. */
type Run<W, O> = (tx: Transaction, write: W) => Effect.fn.Return<O, StoreUnavailableOnly | Conflict>;
type StoreUnavailableOnly = Effect.Error<StoreEffect<never>>;

/**
 * Makes a write that keeps its idempotency key and its answer.
 *
 * @param queue the name of what a write changes, see `Database.write`
 * @param reads the keys that every write reads
 */
export const keyedWrite =
  <O, W extends Keyed<O>>(
    db: Database,
    queue: (write: W) => string,
    run: Run<W, O>,
    reads: (write: W) => ReadonlyArray<string> = () => [],
  ) =>
  (write: W): StoreEffect<O, Conflict> =>
    db.write<O, Conflict>(queue(write), function* (tx) {
      const { once } = write;
      yield* tx.prefetch([...reads(write), ...(once === undefined ? [] : [keyOf(requests, [once.id])])]);
      const earlier = once === undefined ? undefined : yield* tx.get(requests, once.id);
      if (once !== undefined && earlier !== undefined && once.at < earlier.endsAt) {
        return yield* new Conflict({ reason: "idempotency_key_in_use" });
      }
      const outcome = yield* Effect.gen(() => run(tx, write));
      const kept = once?.answerOf(outcome) ?? null;
      if (once === undefined || kept === null) return outcome;
      const { answer, chatIds } = yield* kept;
      const { id, fingerprint, endsAt } = once;
      yield* tx.put(requests, { id, fingerprint, endsAt, answer, chatIds: [...once.chatIds, ...chatIds] });
      return outcome;
    });

export const layer = storeLayer(IdempotencyStore, (db) => {
  const keep = keyedWrite<void, Keyed<void>>(
    db,
    ({ once }) => once?.id ?? "",
    function* () {},
  );
  return {
    keep: (request, answer) => keep({ once: { ...request, answerOf: () => Effect.succeed(answer) } }),

    find: (id) =>
      db.read(function* (tx) {
        return Option.map(Option.fromUndefinedOr(yield* tx.get(requests, id)), requestOf);
      }),

    sweep: (at) =>
      Effect.asVoid(
        inSteps(
          db,
          (tx) => tx.list(requests.byEnd, [], { before: [at + 1], limit: stepSize }),
          Effect.fnUntraced(function* (tx, { id }) {
            const found = yield* tx.get(requests, id);
            if (found === undefined || found.endsAt > at) return false;
            yield* tx.remove(requests, id);
            return true;
          }),
        ),
      ),
  };
});

const requestOf = ({ fingerprint, answer, endsAt }: StoredRequest): EarlierRequest => ({
  fingerprint,
  answer,
  endsAt,
});
