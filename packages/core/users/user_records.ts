import { Effect, Order } from "effect";
import { reviewsOf } from "../alts/alt_review_store.ts";
import type { ChatId } from "../ids.ts";
import type { Tx } from "../records/records.ts";
import { type SiteSignIn, siteSignIns } from "../sign_ins/sign_in_store.ts";
import type { UserRecords } from "./user_store.ts";

const byTime = Order.combine(
  Order.mapInput(Order.Number, ({ createdAt }: SiteSignIn) => createdAt),
  Order.mapInput(Order.String, ({ id }: SiteSignIn) => id),
);

const byPid = Order.mapInput(Order.String, ({ pid }: UserRecords["reviews"][number]) => pid);

/** Reads the data of a user that is in records, for `UserStore.find`. @internal */
export const userRecordsOf = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId) {
  return {
    reviews: (yield* reviewsOf(tx, chatId, [])).toSorted(byPid),
    signIns: (yield* tx.list(siteSignIns.byUser, [chatId])).toSorted(byTime),
  } satisfies Partial<UserRecords>;
});
