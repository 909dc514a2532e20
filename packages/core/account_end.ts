/** The close and the end of accounts in any storage, in the transactions of several stores. */
import { Effect, Equal, Predicate } from "effect";
import { hasAccepted, isInCharge, memberRecords } from "./accounts/member_store.ts";
import { erasedMark } from "./erased_mark.ts";
import type { ChatId, KeyId } from "./ids.ts";
import { dropUploads } from "./imports/upload_store.ts";
import { isLiving, type KeyRecord, keyRecords } from "./keys/api_key.ts";
import type { RecordType } from "./records/record_type.ts";
import { changeSome, type KnownAccount, keyOf, type Tx } from "./records/records.ts";
import { noSettings, noTexts, type ScopeSettings } from "./scope_settings.ts";
import { pausePlans } from "./stored_role_plans.ts";
import type { Millis } from "./timestamp.ts";
import { type WebhookRecord, webhookRecords } from "./webhooks/webhook.ts";

/** The queue of writes to an account. Anybody may name an account, so that the name has a prefix. @internal */
export const accountQueue = (name: string): string => `account ${name}`;

/** The keys that a step changed, while more of the account is to be changed. */
export interface Unfinished {
  readonly unfinished: ReadonlyArray<KeyId>;
}

/** Repeats a change of an account until nothing is left to change. @internal */
export const changeInSteps = Effect.fnUntraced(function* <A, E>(
  change: (before: ReadonlyArray<KeyId>) => Effect.Effect<A | Unfinished, E>,
) {
  const before: Array<KeyId> = [];
  for (;;) {
    const changed = yield* change(before);
    if (!Predicate.hasProperty(changed, "unfinished")) return changed;
    before.push(...changed.unfinished);
  }
});

/**
 * Changes records of an account until the step is over. `next` returns null for a record that stays. Returns the changed
 * records, and whether more are left.
 */
const changeAll = Effect.fnUntraced(function* <R extends object>(
  tx: Tx,
  type: RecordType<R>,
  account: string,
  next: (record: R) => R | null,
  isOver: () => boolean,
) {
  const changed: Array<R> = [];
  for (const found of yield* tx.ofAccount(type, account)) {
    if (next(found) === null) continue;
    if (isOver()) return { changed, isMore: true };
    const stored = yield* tx.get(type, ...keyOf(type, found));
    const record = stored === undefined ? null : next(stored);
    if (record === null) continue;
    yield* tx.put(type, record);
    changed.push(record);
  }
  return { changed, isMore: false };
});

/** Changes keys of an account that are not revoked, until the step is over. @internal */
export const changeKeys = (
  tx: Tx,
  account: string,
  next: (key: KeyRecord) => KeyRecord | null,
  isOver: () => boolean = tx.isFull,
) =>
  Effect.map(
    changeAll(tx, keyRecords, account, (key) => (isLiving(key) ? next(key) : null), isOver),
    ({ changed, isMore }) => ({ changed: changed.map(({ id }) => id), isMore }),
  );

const revokeKeys = (tx: Tx, account: string, at: Millis, isOver: () => boolean) =>
  Effect.map(
    changeKeys(tx, account, (key) => ({ ...key, status: "revoked", revokedAt: at }), isOver),
    ({ changed: revoked, isMore }) => ({ revoked, isMore }),
  );

/** Pauses webhooks and role plans of an account until the step is over. Returns whether more are left. */
const pauseAll = Effect.fnUntraced(function* (tx: Tx, account: string, at: Millis, isOver: () => boolean) {
  const { isMore } = yield* changeAll(
    tx,
    webhookRecords,
    account,
    (webhook: WebhookRecord): WebhookRecord | null =>
      webhook.status === "active" ? { ...webhook, status: "paused", failingSince: null } : null,
    isOver,
  );
  return isMore || (yield* pausePlans(tx, account, at, isOver));
});

/** Revokes keys of an account, and pauses webhooks and role plans, until the step is over. @internal */
export const closeAccount = Effect.fnUntraced(function* (
  tx: Tx,
  { name }: KnownAccount,
  at: Millis,
  isOver: () => boolean = tx.isFull,
) {
  if (yield* pauseAll(tx, name, at, isOver)) return { revoked: [], isMore: true };
  return yield* revokeKeys(tx, name, at, isOver);
});

const cleared = <R extends object>(record: R, empty: Partial<R>): R | null => {
  const next = { ...record, ...empty };
  return Equal.equals(next, record) ? null : next;
};

const undescribed = { description: "" };

const emptied = { name: "", allowIps: [], denyIps: [], redirectOrigins: [], madeBy: null };

/**
 * Ends imports, invitations and sign-ins of members of an account, and clears the texts that the owner entered for keys,
 * scopes and webhooks, until the step is over. Returns whether more may be left.
 *
 * @internal
 * @param unset the settings of scopes that are cleared
 */
export const clearAccount = Effect.fnUntraced(function* (
  tx: Tx,
  account: KnownAccount,
  isOver: () => boolean = tx.isFull,
  unset: Partial<ScopeSettings> = noSettings,
) {
  const { id, name } = account;
  if (isOver()) return true;
  yield* dropUploads(tx, name);
  for (const { scope, settings } of yield* tx.scopesOf(name)) {
    const left = cleared(settings, unset);
    if (left === null) continue;
    if (isOver()) return true;
    yield* tx.putSettings(scope.pid, left);
  }
  const webhooks = yield* changeAll(tx, webhookRecords, name, (one) => cleared(one, undescribed), isOver);
  const keys = yield* changeAll(tx, keyRecords, name, (key) => cleared(key, emptied), isOver);
  if (webhooks.isMore || keys.isMore || (yield* tx.endSignIns(account, isOver))) return true;
  for (const member of yield* tx.list(memberRecords.byAccount, [id])) {
    if (hasAccepted(member)) continue;
    if (isOver()) return true;
    yield* tx.remove(memberRecords, id, member.chatId);
  }
  return false;
});

/** Removes members of an account until the step is over. Returns whether more are left. @internal */
export const endMembers = Effect.fnUntraced(function* (tx: Tx, { id }: KnownAccount) {
  const members = yield* tx.list(memberRecords.byAccount, [id]);
  // Owners go last, since an owner repeats an end that was interrupted.
  const [owners, others] = [true, false].map((is) => members.filter(({ role }) => (role === "owner") === is));
  for (const { chatId } of [...(others ?? []), ...(owners ?? [])]) {
    if (tx.isFull()) return true;
    yield* tx.remove(memberRecords, id, chatId);
  }
  return false;
});

/** Whether nobody but a chat user runs an account. @internal */
export const isRunBy = (tx: Tx, { id }: KnownAccount, chatId: ChatId) =>
  Effect.map(
    tx.list(memberRecords.byAccount, [id]),
    (members) => !members.some((member) => member.chatId !== chatId && isInCharge(member)),
  );

/**
 * Revokes the keys of an account of an erased user and clears the account, until the step is over. If nobody is left who
 * runs the account, pauses its webhooks and role plans. Of an account that the user founded and others own, only ends the
 * sign-ins, which name it. @internal
 */
export const endOwnAccount = Effect.fnUntraced(function* (
  tx: Tx,
  account: KnownAccount,
  chatId: ChatId,
  at: Millis,
  isOver: () => boolean = tx.isFull,
) {
  if (account.chatId === null) {
    if (yield* tx.endSignIns(account, isOver)) return { revoked: [], isMore: true };
    const closes = yield* isRunBy(tx, account, chatId);
    return closes ? yield* closeAccount(tx, account, at, isOver) : { revoked: [], isMore: false };
  }
  // Before they lose their lists of addresses and their makers: a key without them may do more.
  const ended = yield* revokeKeys(tx, account.name, at, isOver);
  if (ended.isMore) return ended;
  // The account may have other owners, whose communities keep their settings.
  if (yield* clearAccount(tx, account, isOver, noTexts)) return { ...ended, isMore: true };
  if (!(yield* isRunBy(tx, account, chatId))) return ended;
  return { ...ended, isMore: yield* pauseAll(tx, account.name, at, isOver) };
});

/** Gives an account of an erased user a pseudonym. An account that others own keeps the name that they gave it. @internal */
export const releaseErased = Effect.fnUntraced(function* (tx: Tx, account: KnownAccount, pseudonym: string) {
  const id = yield* tx.releaseAccount(account, pseudonym);
  if (account.chatId === null) yield* tx.putAccount({ ...account, id, name: pseudonym });
  return id;
});

/** Replaces an erased user as the maker of up to `limit` keys. Returns whether more may be left. @internal */
export const forgetMaker = (tx: Tx, chatId: ChatId, limit: number) =>
  changeSome(tx, keyRecords.byMaker, [chatId], limit, { madeBy: erasedMark });

/** Removes an erased user as the inviter of up to `limit` members. Returns whether more may be left. @internal */
export const forgetInviter = (tx: Tx, chatId: ChatId, limit: number) =>
  changeSome(tx, memberRecords.byInviter, [chatId], limit, { invitedBy: null });
