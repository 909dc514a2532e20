/** Verifications that end with a link, where a transaction has no room for any number of them. */
import type { ChatId } from "@accountlink/core";
import type { StoreEffect } from "@accountlink/core/errors";
import type { SessionId } from "@accountlink/core/ids";
import { type EndingVerifications, endSomeVerifications, findVerifications } from "@accountlink/core/storage";
import { Data, Effect, Result } from "effect";
import type { Database } from "../database.ts";
import { txOf } from "../records.ts";
import { itemsOf } from "../steps.ts";
import type { Transaction } from "../transaction.ts";

/** How many flows, and how many sessions, a transaction ends beside the removal of a link. */
const endedPerStep = (tx: Transaction): number => itemsOf(tx, 30, { beside: 60, limit: 10 });

/** More verifications are to end than a transaction ends. */
export class ManyVerifications extends Data.TaggedError("ManyVerifications")<{
  readonly ending: EndingVerifications;
}> {}

/** Ends verifications, and returns their sessions. Fails if they are many, so that others end them before. */
export const endLastVerifications = Effect.fnUntraced(function* (
  tx: Transaction,
  ending: EndingVerifications,
): Effect.fn.Return<ReadonlyArray<SessionId>, Effect.Error<StoreEffect<never>> | ManyVerifications> {
  const most = endedPerStep(tx);
  const found = yield* findVerifications(txOf(tx), ending, most + 1);
  if (found.most > most) return yield* new ManyVerifications({ ending });
  return (yield* endSomeVerifications(txOf(tx), ending, most)).ended;
});

/**
 * Makes a write that ends verifications. If they are many, ends most of them in small transactions before it. Returns
 * also the sessions that these ended, by chat user.
 */
export const endingVerifications = <A, E>(
  db: Database,
  write: Effect.Effect<A, E | ManyVerifications>,
): Effect.Effect<readonly [A, Ended], Exclude<E, ManyVerifications> | Effect.Error<StoreEffect<never>>> =>
  Effect.gen(function* () {
    const before: Ended = new Map();
    for (;;) {
      const made = yield* Effect.result(write);
      if (Result.isSuccess(made)) return [made.success, before] as const;
      if (!(made.failure instanceof ManyVerifications)) {
        return yield* Effect.fail(made.failure as Exclude<E, ManyVerifications>);
      }
      const { ending } = made.failure;
      const { chatId } = ending;
      const { ended } = yield* db.write(ending.pid, (tx) =>
        endSomeVerifications(txOf(tx), ending, endedPerStep(tx)),
      );
      before.set(chatId, [...(before.get(chatId) ?? []), ...ended]);
    }
  });

/** The sessions that were ended before a write, by chat user. */
type Ended = Map<ChatId | null, ReadonlyArray<SessionId>>;

/** Adds the sessions of a chat user that were ended before; of all of the scope if the chat user is null. */
export const withEnded = <R extends { readonly ended: ReadonlyArray<SessionId> }>(
  removed: R,
  chatId: ChatId | null,
  before: Ended,
): R => ({ ...removed, ended: [...(before.get(chatId) ?? []), ...removed.ended] });
