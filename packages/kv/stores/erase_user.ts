/** The erasure of a user: in one transaction, or for a user with much data in several, of which the last one ends it. */
import type { ChatId, KeyId } from "@accountlink/core";
import { isInCharge, isSuspendedOwner } from "@accountlink/core/accounts";
import { isAtAddress, placeOf } from "@accountlink/core/addresses";
import { logged, userErased } from "@accountlink/core/journal";
import { isFinal } from "@accountlink/core/sessions";
import { assertStorable } from "@accountlink/core/storable_text";
import { countErased, type ErasedThing, type EraseUser, type UserErased } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import type { Database, Transaction } from "../transaction.ts";
import { closeAccount, pauseAll, releaseAccount } from "./account_end.ts";
import { suspendedOwners } from "./account_operations.ts";
import { reviews } from "./alt_review_store.ts";
import { eraseFromBlocks } from "./blocks.ts";
import { forgetInCommunities } from "./communities.ts";
import { forgetInLogs } from "./guild_logs.ts";
import { requests } from "./idempotency_store.ts";
import { eraseFromImports } from "./import_records.ts";
import { accountPlace, eraseFromJournal, pidOf, record } from "./journal.ts";
import { links } from "./links.ts";
import { members, membershipsOf } from "./members.ts";
import { forgetRoles } from "./role_plans.ts";
import { accountAt, accounts, type StoredAccount, scopes } from "./scopes.ts";
import { sightings } from "./sightings.ts";
import { signIns } from "./sign_in_store.ts";
import { forgetSuspects } from "./suspect_store.ts";
import { endVerifications, flows, sessions } from "./verifications.ts";

/** How much of each kind one transaction erases. */
const limit = 12;

const isCurrent = Effect.fnUntraced(function* (
  tx: Transaction,
  { pid, epoch }: { readonly pid: string; readonly epoch: number },
) {
  return (yield* tx.get(scopes, pid))?.epoch === epoch;
});

export const eraseUser = Effect.fnUntraced(function* (db: Database, write: EraseUser) {
  assertStorable([write.pseudonym]);
  const things: Array<ErasedThing> = [];
  for (;;) {
    const earlier = [...things];
    const erased = yield* db.write<Option.Option<UserErased> | ReadonlyArray<ErasedThing>>(
      write.chatId,
      function* (tx) {
        if (yield* hasOtherRecords(tx, write)) return Option.none();
        const part = yield* erasePart(tx, write);
        if (part.isMore) return part.things;
        return Option.some(yield* endErasure(tx, write, [...earlier, ...part.things]));
      },
    );
    if (Option.isOption(erased)) return erased;
    things.push(...erased);
  }
});

/** Whether the user has a record in a scope that the write does not name. */
const hasOtherRecords = Effect.fnUntraced(function* (tx: Transaction, { chatId, scopes: known }: EraseUser) {
  for (const stored of yield* tx.list(links.byUser, [chatId])) {
    if (!known.includes(stored.pid) && (yield* isCurrent(tx, stored))) return true;
  }
  return false;
});

/** Erases up to `limit` things of each kind of which a user may have many. */
const erasePart = Effect.fnUntraced(function* (tx: Transaction, { chatId, at }: EraseUser) {
  const things: Array<ErasedThing> = [];
  const names = (yield* tx.list(accounts.byUser, [chatId])).map(({ name }) => name);

  const ofUser = yield* tx.list(links.byUser, [chatId], { limit });
  for (const stored of ofUser) {
    if (yield* isCurrent(tx, stored)) things.push({ what: "records", pid: stored.pid });
    yield* tx.remove(links, stored.pid, chatId);
  }
  const seen = yield* tx.list(sightings.byUser, [chatId], { limit });
  for (const stored of seen) {
    const { pid, sighting } = stored;
    const what = isAtAddress(sighting) ? "sightings" : "browsers";
    if (yield* isCurrent(tx, stored)) things.push({ what, pid });
    yield* tx.remove(sightings, pid, chatId, placeOf(sighting));
  }
  const reviewed = yield* tx.list(reviews.byUser, [chatId], { limit });
  for (const stored of reviewed) {
    if (yield* isCurrent(tx, stored)) things.push({ what: "reviews", pid: stored.pid });
    yield* tx.remove(reviews, ...reviews.id(stored));
  }
  const { pids, isMore: isLogLeft } = yield* forgetInLogs(tx, chatId, at, limit);
  for (const pid of pids) things.push({ what: "messages", pid });
  const isSessionLeft = yield* eraseFromSessions(tx, chatId, at);
  const named = yield* eraseFromJournal(tx, chatId, names, limit);
  for (const { place, actor } of named)
    things.push({ what: actor === null ? "events" : "entries", pid: pidOf(place) });
  const kept = yield* tx.list(requests.byUser, [chatId], { limit });
  for (const request of kept) yield* tx.put(requests, { ...request, chatIds: [], answer: null });
  const isMore = [ofUser, seen, reviewed, named, kept].some(({ length }) => length >= limit);
  const isBlockLeft = yield* eraseFromBlocks(tx, chatId, limit);
  const isPauseLeft = yield* forgetInCommunities(tx, chatId, limit);
  const isUndoLeft = yield* eraseFromImports(tx, chatId, limit);
  // A pair has many index entries.
  const isSuspectLeft = yield* forgetSuspects(tx, chatId, limit / 4);
  const left = [isMore, isLogLeft, isSessionLeft, isBlockLeft, isPauseLeft, isUndoLeft, isSuspectLeft];
  return { things, isMore: left.includes(true) };
});

/** Returns whether some sessions may be left. */
const eraseFromSessions = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId, at: number) {
  const ofUser = yield* tx.list(sessions.byUser, [chatId], { limit });
  const proven = yield* tx.list(flows.byUser, [chatId], { limit });
  const pids = new Set(proven.map(({ pid }) => pid));
  for (const { session } of ofUser) {
    if (isFinal(session.state)) yield* tx.remove(sessions, session.id);
    else pids.add(session.pid);
  }
  for (const pid of pids) yield* endVerifications(tx, pid, chatId, at, limit);
  for (const stored of yield* tx.list(sessions.byUser, [chatId], { limit })) {
    if (isFinal(stored.session.state)) {
      yield* tx.put(sessions, { ...stored, session: { ...stored.session, chatId: null } });
    }
  }
  return ofUser.length === limit || proven.length === limit;
});

const endErasure = Effect.fnUntraced(function* (
  tx: Transaction,
  write: EraseUser,
  things: ReadonlyArray<ErasedThing>,
) {
  const { chatId, pseudonym, ownerHash } = write;
  const { total, byScope } = countErased(things);
  for (const [pid, details] of byScope) {
    yield* record(tx, pid, userErased(write, chatId, { ...details }));
  }
  const own = (yield* tx.list(accounts.byUser, [chatId])).toSorted((one, other) => one.id - other.id);
  for (const signIn of yield* tx.list(signIns.byUser, [chatId])) yield* tx.remove(signIns, signIn.id);
  if ((yield* membershipsOf(tx, chatId)).some(isSuspendedOwner)) {
    yield* tx.put(suspendedOwners, { hash: ownerHash });
  }
  const left = yield* leaveAccounts(tx, chatId);
  yield* forgetRoles(tx, chatId);

  const revokedKeys: Array<KeyId> = [];
  for (const [index, account] of own.entries()) {
    const name = index === 0 ? pseudonym : `${pseudonym}-${index + 1}`;
    revokedKeys.push(...(yield* endOwn(tx, write, account, name)));
  }
  for (const account of left) revokedKeys.push(...(yield* closeLeft(tx, write, account)));
  return { ...total, accounts: own.length, revokedKeys };
});

/** Ends the memberships of the user, and returns the accounts of others that the user ran. */
const leaveAccounts = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const left: Array<StoredAccount> = [];
  for (const member of yield* tx.list(members.byUser, [chatId])) {
    const account = yield* accountAt(tx, member.account);
    if (isInCharge(member) && account.chatId !== chatId) left.push(account);
    yield* tx.remove(members, member.account, chatId);
  }
  for (const member of yield* tx.list(members.byInviter, [chatId])) {
    yield* tx.put(members, { ...member, invitedBy: null });
  }
  return left.toSorted((one, other) => (one.name < other.name ? -1 : 1));
});

const isClosed = Effect.fnUntraced(function* (tx: Transaction, account: number) {
  return !(yield* tx.scan(members, [account])).some(isInCharge);
});

/** Closes an account if the user was its last owner or admin, and returns the revoked keys. */
const closeLeft = Effect.fnUntraced(function* (tx: Transaction, write: EraseUser, account: StoredAccount) {
  if (!(yield* isClosed(tx, account.id))) return [];
  const revoked = yield* closeAccount(tx, account, write.at);
  const details = { revokedKeys: revoked.length };
  yield* record(tx, accountPlace(account.id), logged(write, "user.erased", details));
  return revoked;
});

/** Releases an account of the user. If no owner or admin is left, pauses its webhooks and role plans. */
const endOwn = Effect.fnUntraced(function* (
  tx: Transaction,
  write: EraseUser,
  account: StoredAccount,
  pseudonym: string,
) {
  const revoked = yield* releaseAccount(tx, account, pseudonym, write.at);
  if (yield* isClosed(tx, account.id)) yield* pauseAll(tx, account.id, write.at);
  const details = { revokedKeys: revoked.length };
  yield* record(tx, accountPlace(account.id), logged(write, "user.erased", details));
  return revoked;
});
