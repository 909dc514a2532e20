import { Effect, Order, Struct } from "effect";
import { membershipsOf } from "../accounts/member_store.ts";
import { reviewsOf } from "../alts/alt_review_store.ts";
import { sightingsOfUser } from "../alts/sighting_store.ts";
import { newLinks, suspectsOf } from "../alts/suspect_store.ts";
import { entriesAbout, messagesOf } from "../guild_log/stored_guild_logs.ts";
import type { ChatId, Pid } from "../ids.ts";
import { importsOf } from "../imports/link_imports.ts";
import type { RecordIndex } from "../records/record_type.ts";
import type { Tx } from "../records/records.ts";
import { previewsOf } from "../roles/mod.ts";
import { rolesOfUser } from "../roles/plan_records.ts";
import { sessionOf, verificationSessions } from "../sessions/session_store.ts";
import { verificationFlows } from "../sessions/verification_flow.ts";
import { siteSignIns } from "../sign_ins/sign_in_store.ts";
import { recordTypes } from "../storage.ts";
import { pausesOf } from "../stored_communities.ts";
import type { UserRecords } from "./user_store.ts";

const byTime = <R extends { readonly id: string }>(timeOf: (record: R) => number) =>
  Order.combine(
    Order.mapInput(Order.Number, timeOf),
    Order.mapInput(Order.String, ({ id }: R) => id),
  );

const byPid = Order.mapInput(Order.String, ({ pid }: UserRecords["reviews"][number]) => pid);

const downloadsOf = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId) {
  const downloads: Record<string, ReadonlyArray<{ readonly pid: Pid }>> = {};
  for (const { ofUser } of recordTypes) {
    if (ofUser?.download === undefined) continue;
    const { as, fields } = ofUser.download;
    const found = yield* tx.list(ofUser.index as RecordIndex<{ readonly pid: Pid }>, [chatId]);
    downloads[as] = found.map((record) => Struct.pick(record, fields as ["pid"]));
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
  const flows = yield* tx.list(verificationFlows.byUser, [chatId]);
  const sessions = yield* tx.list(verificationSessions.byUser, [chatId]);
  const signIns = yield* tx.list(siteSignIns.byUser, [chatId]);
  return {
    ...(yield* sightingsOfUser(tx, chatId)),
    memberships: yield* membershipsOf(tx, chatId),
    messages: yield* messagesOf(tx, chatId),
    logEntries: yield* entriesAbout(tx, chatId),
    newLinks: yield* tx.list(newLinks.byUser, [chatId]),
    suspects: yield* suspectsOf(tx, chatId),
    pauses: yield* pausesOf(tx, chatId),
    imports: yield* importsOf(tx, chatId, pids),
    reviews: (yield* reviewsOf(tx, chatId, [])).toSorted(byPid),
    sessions: sessions.map(sessionOf).toSorted(byTime(({ createdAt }) => createdAt)),
    flows: flows.toSorted(byTime(({ expiresAt }) => expiresAt)),
    roles: yield* rolesOfUser(tx, chatId),
    previews: yield* previewsOf(tx, chatId),
    signIns: signIns.toSorted(byTime(({ createdAt }) => createdAt)),
    downloads: yield* downloadsOf(tx, chatId),
  } satisfies Partial<UserRecords>;
});
