import { Effect, Order, Struct } from "effect";
import { membershipsOf } from "../accounts/member_store.ts";
import { reviewsOf } from "../alts/alt_review_store.ts";
import { sightingsOfUser } from "../alts/sighting_store.ts";
import { suspectsOf } from "../alts/suspect_store.ts";
import { entriesAbout, messagesOf } from "../guild_log/stored_guild_logs.ts";
import type { ChatId, Pid } from "../ids.ts";
import { importsOf } from "../imports/link_imports.ts";
import type { Tx } from "../records/records.ts";
import { previewsOf } from "../roles/mod.ts";
import { rolesOfUser } from "../roles/plan_records.ts";
import { recordTypes } from "../storage.ts";
import type { UserRecords } from "./user_store.ts";

const byPid = Order.mapInput(Order.String, ({ pid }: UserRecords["reviews"][number]) => pid);

const downloadsOf = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId) {
  const downloads: Record<string, UserRecords["downloads"][string]> = {};
  for (const { download } of recordTypes) {
    if (download === null) continue;
    const found = yield* tx.list(download.index, [chatId]);
    downloads[download.as] = found.map((record) => Struct.pick(record, download.fields as []));
  }
  return downloads;
});

/**
 * Reads the data of a user that is in records, for `UserStore.find`.
 *
 * @param pids the scopes in which the user has a link record
 * @internal
 */
export const userRecordsOf = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId, pids: ReadonlyArray<Pid>) {
  return {
    ...(yield* sightingsOfUser(tx, chatId)),
    memberships: yield* membershipsOf(tx, chatId),
    messages: yield* messagesOf(tx, chatId),
    logEntries: yield* entriesAbout(tx, chatId),
    suspects: yield* suspectsOf(tx, chatId),
    imports: yield* importsOf(tx, chatId, pids),
    reviews: (yield* reviewsOf(tx, chatId, [])).toSorted(byPid),
    roles: yield* rolesOfUser(tx, chatId),
    previews: yield* previewsOf(tx, chatId),
    downloads: yield* downloadsOf(tx, chatId),
  } satisfies Partial<UserRecords>;
});
