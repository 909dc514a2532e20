/**
 * The erasure of a user: in one transaction, or for a user with much data in several, each of which is small. The last one
 * finds nothing left.
 */
import type { ChatId, KeyId } from "@accountlink/core";
import { isInCharge, isSuspendedOwner, memberRecords } from "@accountlink/core/accounts";
import type { StoreEffect } from "@accountlink/core/errors";
import { forgetInLogs } from "@accountlink/core/guild_log";
import { importedLinks } from "@accountlink/core/imports";
import { logged, userErased, withoutUser } from "@accountlink/core/journal";
import { generatedName, isAccountOf, suspendedOwners } from "@accountlink/core/keys";
import type { RecordType } from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import {
  closeAccount,
  endOwnAccount,
  forgetInSessions,
  forgetters,
  isRunBy,
  recordTypes,
  releaseErased,
} from "@accountlink/core/storage";
import type { Millis } from "@accountlink/core/timestamp";
import {
  addErased,
  type ErasedThing,
  type EraseUser,
  type ErasureTally,
  nothingErased,
  type UnfinishedErasure,
  type UserErased,
} from "@accountlink/core/users";
import { Clock, Effect, Option } from "effect";
import type { Database } from "../database.ts";
import { kvIndex, kvTable } from "../record_tables.ts";
import { txOf } from "../records.ts";
import { changeFirst, changeSome, isFull, removeSome, stepSize } from "../steps.ts";
import { type Index, table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { eraseFromBlocks } from "./blocks.ts";
import { requests } from "./idempotency_store.ts";
import {
  accountPlace,
  journal,
  pidOf,
  record,
  recordPart,
  recordsNaming,
  type StoredRecord,
} from "./journal.ts";
import { links } from "./links.ts";
import {
  accountAt,
  accountOf,
  accounts,
  byName,
  isCurrent,
  type OfEpoch,
  type StoredAccount,
} from "./scopes.ts";

const members = kvTable(memberRecords);

/** The things that a transaction erases in the scopes that it names, each of which is to be checked. */
const mostThings = 12;

/** The most changes of the event and the entry of a scope, and of the end of an account. */
const [keysOfScope, keysOfEnd] = [14, 25];

/** An erasure whose last transaction is still to come. */
interface Erasure extends UnfinishedErasure {
  /** When the last transaction was made. */
  readonly stepAt: Millis;
  /** What the entries of scopes count, so that erasures of one user at the same time share them. */
  readonly scopes?: ReadonlyArray<TalliedScope>;
}

type TalliedScope =
  ErasureTally["scopes"] extends ReadonlyMap<infer Id, infer Told> ? readonly [Id, Told] : never;

export const erasures = table<Erasure>()("erasure", ({ chatId }) => [chatId], {});

interface KvErasure extends EraseUser {
  /** The accounts that the user founded and others own. */
  readonly founded: ReadonlyArray<StoredAccount["id"]>;
}

/** What was erased: by a transaction, or by all before it. */
interface Part {
  readonly things: Array<ErasedThing>;
  readonly revoked: Array<{ readonly key: KeyId; readonly account: number; readonly isOwn: boolean }>;
  /** The number of the user's accounts that were released. */
  accounts: number;
}

/** Whether a transaction erases no more. */
const isLarge =
  ({ things }: Part) =>
  (tx: Transaction): boolean =>
    things.length >= mostThings ||
    isFull(tx, keysOfEnd + keysOfScope * new Set(things.map(({ pid }) => pid)).size);

const newPart = (): Part => ({ things: [], revoked: [], accounts: 0 });

export const eraseUser = Effect.fnUntraced(function* (db: Database, asked: EraseUser) {
  assertStorable([asked.pseudonym]);
  const { chatId, actor, requestId } = asked;
  const write = { ...asked, founded: yield* db.read((tx) => foundedBy(tx, chatId)) };
  const sum = newPart();
  let total = nothingErased.total;
  for (;;) {
    const before = total;
    const done = yield* db.write<{ part: Part; total: ErasureTally["total"]; isMore: boolean } | null>(
      chatId,
      function* (tx) {
        if (yield* hasOtherRecords(tx, write)) return null;
        const part = newPart();
        const begun = yield* tx.get(erasures, chatId);
        const isMore = yield* erasePart(tx, write, part, sum);
        const tally = { total: before, scopes: new Map(begun?.scopes) };
        const after = yield* addErased(tally, part.things, (pid, details, entry) =>
          Effect.map(
            recordPart(tx, pid, userErased(write, chatId, { ...details }), entry, entry === null),
            (sequence) => sequence ?? 0,
          ),
        );
        const stepAt = yield* Clock.currentTimeMillis;
        if (isMore) yield* tx.put(erasures, { chatId, actor, requestId, stepAt, scopes: [...after.scopes] });
        else yield* tx.remove(erasures, chatId);
        return { part, total: after.total, isMore };
      },
    );
    if (done === null) return Option.none<UserErased>();
    const { part, isMore } = done;
    total = done.total;
    sum.accounts += part.accounts;
    sum.revoked.push(...part.revoked);
    if (isMore) continue;
    const revokedKeys = sum.revoked
      .toSorted((one, other) => Number(other.isOwn) - Number(one.isOwn))
      .map(({ key }) => key);
    return Option.some<UserErased>({ ...total, accounts: sum.accounts, revokedKeys });
  }
});

const isFoundedBy = (account: StoredAccount | undefined, chatId: ChatId): account is StoredAccount =>
  account !== undefined && account.chatId === null && isAccountOf(account, chatId);

const foundedBy = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const name = generatedName(chatId);
  const found = yield* tx.list(accounts.byName, [], { from: [name], before: [`${name};`] });
  return found.flatMap((account) => (isFoundedBy(account, chatId) ? [account.id] : []));
});

const accountsOf = Effect.fnUntraced(function* (tx: Transaction, { chatId, founded }: KvErasure) {
  const own = yield* tx.list(accounts.byUser, [chatId]);
  const others = yield* tx.getAll(accounts, founded, (id) => [id]);
  return [...own, ...others.filter((account) => isFoundedBy(account, chatId))].toSorted(byName);
});

/** Whether one of the next records is in a scope that the write does not name. */
const hasOtherRecords = Effect.fnUntraced(function* (tx: Transaction, { chatId, scopes: known }: EraseUser) {
  for (const stored of yield* tx.list(links.byUser, [chatId], { limit: mostThings })) {
    if (!known.includes(stored.pid) && (yield* isCurrent(tx, stored))) return true;
  }
  return false;
});

/** Erases things of each kind until the transaction is large enough. Returns whether something may be left. */
const erasePart = Effect.fnUntraced(function* (tx: Transaction, write: KvErasure, part: Part, before: Part) {
  for (const eraseSome of kinds) {
    for (;;) {
      const isMore = yield* eraseSome(tx, write, part, before);
      if (isLarge(part)(tx)) return true;
      if (!isMore) break;
    }
  }
  return false;
});

/** Erases things of a kind until the transaction is large. Returns whether more may be left. */
type EraseSome = (tx: Transaction, write: KvErasure, part: Part, before: Part) => StoreEffect<boolean>;

/** Removes records of the user. Data of earlier epochs of their scopes is no thing that was erased. */
const eraseFromScopes =
  <R extends OfEpoch>(index: Index<R>, whatIs: (stored: R) => ErasedThing["what"]): EraseSome =>
  (tx, { chatId }, part) =>
    changeSome(
      tx,
      index,
      [chatId],
      Effect.fnUntraced(function* (stored) {
        if (yield* isCurrent(tx, stored)) part.things.push({ what: whatIs(stored), pid: stored.pid });
        yield* tx.remove(index.table, ...index.table.id(stored));
      }),
      isLarge(part),
    );

const eraseRecordsOf = ({ index, erasedAs }: NonNullable<RecordType["ofUser"]>): EraseSome =>
  erasedAs === null
    ? eraseAll(kvIndex(index))
    : eraseFromScopes(kvIndex(index) as unknown as Index<OfEpoch>, (stored) => erasedAs(stored as never));

const eraseAll =
  <R>(index: Index<R>): EraseSome =>
  (tx, { chatId }, part) =>
    removeSome(tx, index, [chatId], isLarge(part));

const eraseFromLogs: EraseSome = Effect.fnUntraced(function* (tx, { chatId, at }, { things }) {
  const { pids, isMore } = yield* forgetInLogs(txOf(tx), chatId, at, 1);
  for (const pid of pids) things.push({ what: "messages", pid });
  return isMore;
});

const eraseRecords: EraseSome = Effect.fnUntraced(function* (tx, write, part) {
  const { chatId } = write;
  const names = (yield* accountsOf(tx, write)).map(({ name }) => name);
  const found = yield* recordsNaming(tx, chatId, names, stepSize);
  const erase = (stored: StoredRecord) => {
    const { place, sequence, actor } = stored;
    part.things.push({ what: actor === null ? "events" : "entries", pid: pidOf(place), sequence });
    return tx.put(journal, { ...stored, ...withoutUser(stored, chatId, names) });
  };
  return (yield* changeFirst(tx, found, erase, isLarge(part))) || found.length === stepSize;
});

const eraseAnswers: EraseSome = (tx, { chatId }, part) =>
  changeSome(
    tx,
    requests.byUser,
    [chatId],
    (request) => tx.put(requests, { ...request, chatIds: [], answer: null }),
    isLarge(part),
  );

/** Ends the next membership of the user. Closes an account of others if the user was its last owner or admin. */
const leaveAccount: EraseSome = Effect.fnUntraced(function* (tx, write, part, before) {
  const { chatId } = write;
  const [member] = yield* tx.list(members.byUser, [chatId], { limit: 1 });
  if (member === undefined) return false;
  const account = yield* accountAt(tx, member.account);
  if (isSuspendedOwner({ ...member, account: accountOf(account) })) {
    yield* txOf(tx).put(suspendedOwners, { hash: write.ownerHash });
  }
  if (!isAccountOf(account, chatId) && isInCharge(member) && (yield* isRunBy(txOf(tx), account, chatId))) {
    const { revoked, isMore } = yield* closeAccount(txOf(tx), account, write.at, () => isLarge(part)(tx));
    for (const key of revoked) part.revoked.push({ key, account: account.id, isOwn: false });
    if (isMore) return true;
    yield* recordEnd(tx, write, account, [part, before]);
  }
  yield* tx.remove(members, account.id, chatId);
  return true;
});

/** Releases the next account of the user. */
const endOwn: EraseSome = Effect.fnUntraced(function* (tx, write, part, before) {
  const { chatId, pseudonym, at } = write;
  const [account] = yield* accountsOf(tx, write);
  if (account === undefined) return false;
  const { revoked, isMore } = yield* endOwnAccount(txOf(tx), account, chatId, at, () => isLarge(part)(tx));
  for (const key of revoked) part.revoked.push({ key, account: account.id, isOwn: true });
  if (isMore) return true;
  const index = before.accounts + part.accounts++;
  yield* releaseErased(txOf(tx), account, index === 0 ? pseudonym : `${pseudonym}-${index + 1}`);
  yield* recordEnd(tx, write, account, [part, before]);
  return true;
});

const recordEnd = (tx: Transaction, write: EraseUser, { id }: StoredAccount, parts: ReadonlyArray<Part>) => {
  const revokedKeys = parts.flatMap(({ revoked }) => revoked).filter(({ account }) => account === id).length;
  return record(tx, accountPlace(id), logged(write, "user.erased", { revokedKeys }));
};

const kinds: ReadonlyArray<EraseSome> = [
  eraseFromScopes(links.byUser, () => "records"),
  // Before the records by which they find what names the user.
  ...forgetters.map(
    (forget): EraseSome =>
      (tx, { chatId }) =>
        forget(txOf(tx), chatId, 1),
  ),
  ...recordTypes.flatMap((type) =>
    type.ofUser === null ? [] : [type === memberRecords ? leaveAccount : eraseRecordsOf(type.ofUser)],
  ),
  eraseFromLogs,
  (tx, { chatId, at }, part) => forgetInSessions(txOf(tx), chatId, at, 1, () => isLarge(part)(tx)),
  eraseRecords,
  eraseAnswers,
  (tx, { chatId }, part) => eraseFromBlocks(tx, chatId, isLarge(part)),
  eraseAll(kvIndex(importedLinks.byUser)),
  endOwn,
];
