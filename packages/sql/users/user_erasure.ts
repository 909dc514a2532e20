/**
 * Erases a chat user: in one transaction, or a user with much data in steps before it. The final transaction erases what
 * the steps have left, and what was written meanwhile.
 */
import { type ChatId, Pid } from "@accountlink/core";
import { isAtAddress } from "@accountlink/core/addresses";
import { signedBy } from "@accountlink/core/audit";
import { forgetInLogs } from "@accountlink/core/guild_log";
import { userErased } from "@accountlink/core/journal";
import type { Account } from "@accountlink/core/keys";
import { forgetInPlans, forgetInPreviews } from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import { forgetInCommunities, recordTypes } from "@accountlink/core/storage";
import {
  addErased,
  type ErasedThing,
  type EraseUser,
  type ErasureTally,
  erasedMark,
  nothingErased,
  type UserErased,
} from "@accountlink/core/users";
import { Array as Arr, Clock, Effect, Option, Schema } from "effect";
import type { Statement } from "effect/sql";
import { readSightings, sightingColumns } from "../alts/sighting_store.ts";
import { unfinished } from "../flow/session_row.ts";
import { endVerifications } from "../flow/verification_ends.ts";
import { deleteFiles } from "../import_files/deleted_files.ts";
import { insertEntry, insertRecord } from "../journal/records.ts";
import { closeAccount, moveEntries, pauseAll, releaseAccount } from "../keys/account_end.ts";
import { accountColumns, readAccounts } from "../keys/accounts.ts";
import { eraseRecordsOn, withTx } from "../records.ts";
import { columnReader, literalSql } from "../statements/row.ts";
import { type Ending, rollBack, type StoreParts } from "../statements/store_operation.ts";
import { type RecordPlace, userRecordsOn } from "./user_records.ts";

/** How many records of the journal, or scopes, a step changes at most. */
const recordsOfStep = 200;
const scopesOfStep = 50;

export const eraseUserOn = (parts: StoreParts) => {
  const { sql, operation, bulkTransaction, forUpdate, isAmong, isAnyOf, isRemote, onlyOne } = parts;
  const { page, erasePage, eraseAll: eraseRecords } = userRecordsOn(sql);
  const isInCharge = sql`role <> 'moderator' AND chosen_at IS NOT NULL`;
  const inAnyScope = sql`1 = 1`;

  const findOwn = (chatId: ChatId) =>
    readAccounts(sql`SELECT ${accountColumns} FROM accounts WHERE chat_id = ${chatId} ORDER BY name`);

  const isLarge = operation("erase", function* ({ chatId, scopes }: EraseUser) {
    const names = (yield* findOwn(chatId)).map(({ name }) => name);
    const { last } = yield* page({ chatId, names }, null, recordsOfStep);
    return last !== null || scopes.length > scopesOfStep;
  });

  /**
   * Begins a step. The row of the erasure lets another node end it, and keeps the pseudonym to which the entries of the
   * user's accounts move.
   */
  const beginStep = Effect.fnUntraced(function* (write: EraseUser) {
    const { chatId, pseudonym, actor, requestId } = write;
    yield* sql`SELECT locks FROM ${onlyOne(chatId)}`;
    const { id, type } = actor;
    const now = yield* Clock.currentTimeMillis;
    const row = {
      chat_id: chatId,
      pseudonym,
      actor_type: type,
      actor_id: id,
      member: signedBy(write).member,
    };
    const [begun = pseudonym] = yield* readPseudonyms(sql`
      INSERT INTO erasures ${sql.insert({ ...row, request_id: requestId, step_at: now })}
      ON CONFLICT (chat_id) DO UPDATE SET step_at = excluded.step_at RETURNING pseudonym`);
    return { accounts: yield* findOwn(chatId), pseudonym: begun };
  });

  const tell = (write: EraseUser, tally: ErasureTally, things: ReadonlyArray<ErasedThing>) =>
    addErased(tally, things, (pid, details, entry) =>
      entry === null
        ? insertRecord(sql, pid, userErased(write, write.chatId, { ...details }))
        : Effect.as(
            sql`UPDATE journal SET details = ${JSON.stringify(details)} WHERE place = ${pid} AND sequence = ${entry}`,
            entry,
          ),
    );

  const eraseFromScopes = bulkTransaction(
    "erase",
    function* (write: EraseUser, pids: ReadonlyArray<Pid>, tally: ErasureTally) {
      yield* beginStep(write);
      const inScopes = sql`pid ${isAmong(JSON.stringify(pids))}`;
      const records = yield* eraseLinks(write.chatId, inScopes);
      const seen = yield* eraseSeen(write.chatId, inScopes);
      return yield* tell(write, tally, [...records, ...seen, ...(yield* eraseOthers(write.chatId, pids))]);
    },
  );

  const eraseSomeRecords = bulkTransaction(
    "erase",
    function* (write: EraseUser, after: RecordPlace | null, tally: ErasureTally) {
      const { accounts } = yield* beginStep(write);
      const user = { chatId: write.chatId, names: accounts.map(({ name }) => name) };
      const { things, last } = yield* erasePage(user, after, recordsOfStep);
      return { tally: yield* tell(write, tally, things), last };
    },
  );

  /** Moves entries of the user's accounts to where they belong from the end on. Returns whether some may be left. */
  const moveSomeEntries = bulkTransaction("erase", function* (write: EraseUser) {
    const { accounts, pseudonym } = yield* beginStep(write);
    for (const [index, { name }] of accounts.entries()) {
      if (yield* moveEntries(sql, name, pseudonymOf(pseudonym, index))) return true;
    }
    return false;
  });

  /** Deletes the files that were uploaded as one of the user's accounts. */
  const deleteOwnFiles = operation("erase", (chatId: ChatId) =>
    deleteFiles(sql, sql`account ${isAnyOf(sql`SELECT name FROM accounts WHERE chat_id = ${chatId}`)}`),
  );

  const eraseInSteps = Effect.fnUntraced(function* (write: EraseUser) {
    let tally = nothingErased;
    for (const pids of Arr.chunksOf(write.scopes, scopesOfStep)) {
      tally = yield* eraseFromScopes(write, pids, tally);
      yield* Effect.yieldNow;
    }
    let after: RecordPlace | null = null;
    do {
      const step: Effect.Success<ReturnType<typeof eraseSomeRecords>> = yield* eraseSomeRecords(
        write,
        after,
        tally,
      );
      ({ tally, last: after } = step);
      yield* Effect.yieldNow;
    } while (after !== null);
    while (yield* moveSomeEntries(write)) yield* Effect.yieldNow;
    return tally;
  });

  const endErasure = bulkTransaction(
    "erase",
    function* (write: EraseUser, before: ErasureTally): Effect.fn.Return<Option.Option<UserErased>, Ending> {
      const { chatId } = write;
      yield* sql`SELECT locks FROM ${onlyOne(chatId)}`;
      const [pseudonym = write.pseudonym] = yield* readPseudonyms(
        sql`DELETE FROM erasures WHERE chat_id = ${chatId} RETURNING pseudonym`,
      );
      const { own: accounts, run } = yield* lockAccounts(chatId);
      const names = accounts.map(({ name }) => name);
      yield* keepSuspension(write);
      let tally = before;
      let pass = yield* eraseOnce(write, names);
      while (pass !== null && pass.length > 0) {
        // Insert the records before the next pass. That pass may find new writes, and in the feed, the erasure must precede
        // their events.
        tally = yield* tell(write, tally, pass);
        // If another write commits between two statements of a pass, the pass may erase only a part of this write. Repeat
        // until a pass finds nothing.
        pass = isRemote ? yield* eraseOnce(write, names) : [];
      }
      if (pass === null) return yield* rollBack(Option.none<UserErased>());

      const released = yield* Effect.forEach(accounts, (account, index) =>
        endOwn(write, account, pseudonymOf(pseudonym, index)),
      );
      const closed = yield* Effect.forEach(run, (account) => leaveAccount(write, account));
      const revokedKeys = [...released, ...closed].flat();
      return Option.some<UserErased>({ ...tally.total, accounts: accounts.length, revokedKeys });
    },
  );

  /** Locks the accounts with the user's chat ID, and the others that the user runs as an owner or admin. */
  const lockAccounts = Effect.fnUntraced(function* (chatId: ChatId) {
    const theirs = sql`
      SELECT name FROM accounts WHERE chat_id = ${chatId}
      UNION SELECT account FROM members WHERE chat_id = ${chatId} AND ${isInCharge}`;
    const accounts = yield* readAccounts(
      sql`SELECT ${accountColumns} FROM accounts WHERE name ${isAnyOf(theirs)} ORDER BY name ${forUpdate}`,
    );
    const own = accounts.filter((account) => account.chatId === chatId);
    const names = JSON.stringify(own.map(({ name }) => name));
    yield* sql`SELECT pid FROM scopes WHERE account ${isAmong(names)} ORDER BY pid ${forUpdate}`;
    return { own, run: accounts.filter((account) => account.chatId !== chatId) };
  });

  const isClosed = (account: string) =>
    Effect.map(
      sql`SELECT chat_id FROM members WHERE account = ${account} AND ${isInCharge} LIMIT 1`,
      (inCharge) => inCharge.length === 0,
    );

  /** Closes an account if the user was its last owner or admin, and returns the revoked keys. */
  const leaveAccount = Effect.fnUntraced(function* (write: EraseUser, { name: account }: Account) {
    if (!(yield* isClosed(account))) return [];
    const revoked = yield* closeAccount(sql, account, write.at);
    const details = { revokedKeys: revoked.length };
    yield* insertEntry(sql, { ...write, account, pid: null, action: "user.erased", details });
    return revoked;
  });

  /** Keeps the hash of a user who owns a suspended account. */
  const keepSuspension = ({ chatId, ownerHash }: EraseUser) => sql`
    INSERT INTO suspended_owners (hash)
    SELECT ${ownerHash}
    WHERE EXISTS (SELECT 1 FROM accounts WHERE chat_id = ${chatId} AND status = 'suspended')
      OR EXISTS (
        SELECT 1 FROM members JOIN accounts ON name = account
        WHERE members.chat_id = ${chatId} AND role = 'owner' AND chosen_at IS NOT NULL AND status = 'suspended')
    ON CONFLICT (hash) DO NOTHING`;

  /** Deletes the user's records in scopes, and returns what was erased. */
  const eraseLinks = Effect.fnUntraced(function* (chatId: ChatId, inScopes: Statement.Fragment) {
    const pids = yield* readPids(
      sql`SELECT pid FROM links WHERE ${inScopes} AND chat_id = ${chatId} ORDER BY pid ${forUpdate}`,
    );
    const inRecords = isAmong(JSON.stringify(pids));
    yield* sql`DELETE FROM links WHERE pid ${inRecords} AND chat_id = ${chatId}`;
    yield* sql`
      DELETE FROM import_links
      WHERE import_id ${isAnyOf(sql`SELECT id FROM link_imports WHERE pid ${inRecords}`)} AND chat_id = ${chatId}`;
    return pids.map((pid) => ({ pid, what: "records" as const }));
  });

  /** Takes the user's answers from requests that are kept, none of which names more than three users. */
  const eraseAnswers = (chatId: ChatId) => {
    const [first, second, third] = [0, 1, 2].map((number) => literalSql(userOfAnswer(number, isRemote)));
    return sql`
      UPDATE idempotency_keys SET answer = NULL, chat_ids = '[]'
      WHERE ${first} = ${chatId} OR ${second} = ${chatId} OR ${third} = ${chatId}`;
  };

  const eraseOthers = (chatId: ChatId, pids?: ReadonlyArray<Pid>) =>
    eraseRecordsOn(sql, recordTypes, chatId, pids);

  /** Deletes the user's sightings in scopes, and returns what was erased. */
  const eraseSeen = Effect.fnUntraced(function* (chatId: ChatId, inScopes: Statement.Fragment) {
    const sightings = yield* readSightings(
      sql`DELETE FROM sightings WHERE ${inScopes} AND chat_id = ${chatId} RETURNING ${sightingColumns}`,
    );
    return sightings.map(({ pid, sighting }) => ({
      pid,
      what: isAtAddress(sighting) ? ("sightings" as const) : ("browsers" as const),
    }));
  });

  /**
   * Erases the user's rows in the lock order of `verification_ends.ts`, and returns what was erased in which scope.
   * Returns null if the user has a record in a scope that the erasure does not name in `scopes`.
   */
  const eraseOnce = Effect.fnUntraced(function* (
    { chatId, at, scopes }: EraseUser,
    names: ReadonlyArray<string>,
  ) {
    const records = yield* eraseLinks(chatId, inAnyScope);
    if (records.some(({ pid }) => !scopes.includes(pid))) return null;
    yield* sql`DELETE FROM verification_sessions WHERE chat_id = ${chatId} AND NOT (${unfinished})`;
    yield* endVerifications(sql, null, chatId, at);
    yield* sql`UPDATE verification_sessions SET chat_id = NULL WHERE chat_id = ${chatId}`;
    yield* sql`DELETE FROM members WHERE chat_id = ${chatId}`;
    yield* sql`UPDATE members SET invited_by = NULL WHERE invited_by = ${chatId}`;
    yield* sql`UPDATE keys SET made_by = ${erasedMark} WHERE made_by = ${chatId}`;
    const all = Number.MAX_SAFE_INTEGER;
    yield* withTx(sql, (tx) => forgetInPlans(tx, chatId, all), true);
    yield* withTx(sql, (tx) => forgetInCommunities(tx, chatId, all), true);
    yield* withTx(sql, (tx) => forgetInPreviews(tx, chatId, all), true);
    const { pids: messages } = yield* withTx(sql, (tx) => forgetInLogs(tx, chatId, at, all), true);
    yield* eraseAnswers(chatId);
    const seen = yield* eraseSeen(chatId, inAnyScope);
    yield* sql`
      UPDATE blocks SET chat_id = NULL, reason = NULL WHERE chat_id = ${chatId}`;
    yield* sql`UPDATE blocks SET member = NULL WHERE member = ${chatId}`;
    return [
      ...records,
      ...seen,
      ...(yield* eraseOthers(chatId)),
      ...messages.map((pid) => ({ pid, what: "messages" as const })),
      ...(yield* eraseRecords({ chatId, names })),
    ];
  });

  /** Releases an account of the user. If no owner or admin is left, pauses its webhooks and role plans. */
  const endOwn = Effect.fnUntraced(function* (write: EraseUser, account: Account, pseudonym: string) {
    const revoked = yield* releaseAccount(sql, account, pseudonym, write.at);
    if (yield* isClosed(pseudonym)) yield* pauseAll(sql, pseudonym, write.at);
    const details = { revokedKeys: revoked.length };
    yield* insertEntry(sql, { ...write, account: pseudonym, pid: null, action: "user.erased", details });
    return revoked;
  });

  return (write: EraseUser) =>
    Effect.gen(function* () {
      assertStorable([write.pseudonym]);
      yield* deleteOwnFiles(write.chatId);
      const tally = (yield* isLarge(write)) ? yield* eraseInSteps(write) : nothingErased;
      return yield* endErasure(write, tally);
    });
};

/** SQL of a user whom a kept answer names. Indexes have the first three. */
const userOfAnswer = (number: number, isPostgres: boolean): string =>
  isPostgres ? `(chat_ids::json ->> ${number})` : `(chat_ids ->> ${number})`;

/** The name of the user's account of this number, counted from 0, after the erasure. */
const pseudonymOf = (pseudonym: string, index: number): string =>
  index === 0 ? pseudonym : `${pseudonym}-${index + 1}`;

const readPids = columnReader("links", "pid", Pid);
const readPseudonyms = columnReader("erasures", "pseudonym", Schema.String);
