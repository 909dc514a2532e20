/** Erases a chat user in one transaction. */
import { type ChatId, Pid } from "@accountlink/core";
import { isAtAddress } from "@accountlink/core/addresses";
import { entryOf, userErased, withoutUser } from "@accountlink/core/journal";
import type { Account } from "@accountlink/core/keys";
import { countErased, type ErasedThing, type EraseUser, type UserErased } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import type { SqlClient } from "effect/sql";
import { readSightings, sightingColumns } from "../alts/sighting_store.ts";
import { forgetSuspects } from "../alts/suspect_store.ts";
import { forgetInCommunities } from "../communities/community_store.ts";
import { unfinished } from "../flow/session_row.ts";
import { endVerifications } from "../flow/verification_ends.ts";
import { forgetInLogs } from "../guild_log/guild_log_store.ts";
import {
  accountPlace,
  insertEntry,
  insertRecord,
  pidOf,
  placesOf,
  readRecords,
  recordColumnsOn,
  replaceRecords,
} from "../journal/records.ts";
import { closeAccount, pauseAll, releaseAccount } from "../keys/account_end.ts";
import { accountColumns, readAccounts, readScopes } from "../keys/accounts.ts";
import { forgetUserRoles } from "../roles/role_members.ts";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader } from "../statements/row.ts";
import { rollBack } from "../statements/store_operation.ts";

export const eraseUserOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate, isAmong, isAnyOf, isRemote, onlyOne } = dialectOf(sql);
  const isInCharge = sql`role <> 'moderator' AND chosen_at IS NOT NULL`;
  const inAnyScope = sql`pid ${isAnyOf(sql`SELECT pid FROM scopes`)}`;

  const eraseWith = Effect.fnUntraced(function* (write: EraseUser) {
    yield* sql`SELECT locks FROM ${onlyOne(write.chatId)}`;
    const { own: accounts, run } = yield* lockAccounts(write.chatId);
    const names = accounts.map(({ name }) => name);
    yield* keepSuspension(write);
    const things: Array<ErasedThing> = [];
    const told = new Map<Pid, number>();
    let pass = yield* eraseOnce(write, names);
    while (pass !== null && pass.length > 0) {
      things.push(...pass);
      // Insert the records before the next pass. That pass may find new writes, and in the feed, the erasure must precede
      // their events.
      for (const pid of countErased(pass).byScope.keys()) {
        if (told.has(pid)) continue;
        told.set(pid, yield* insertRecord(sql, pid, userErased(write, write.chatId, {})));
      }
      // If another write commits between two statements of a pass, the pass may erase only a part of this write. Repeat
      // until a pass finds nothing.
      pass = isRemote ? yield* eraseOnce(write, names) : [];
    }
    if (pass === null) return yield* rollBack(Option.none<UserErased>());

    const released = yield* Effect.forEach(accounts, (account, index) =>
      endOwn(write, account, index === 0 ? write.pseudonym : `${write.pseudonym}-${index + 1}`),
    );
    const closed = yield* Effect.forEach(run, (account) => leaveAccount(write, account));
    const { total, byScope } = countErased(things);
    for (const [pid, details] of byScope) {
      yield* sql`
        UPDATE journal SET details = ${JSON.stringify(details)} WHERE place = ${pid} AND sequence = ${told.get(pid)}`;
    }
    const revokedKeys = [...released, ...closed].flat();
    return Option.some<UserErased>({ ...total, accounts: accounts.length, revokedKeys });
  }, sql.withTransaction);

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
    SELECT ${ownerHash} WHERE EXISTS (
      SELECT 1 FROM accounts LEFT JOIN members
        ON account = name AND members.chat_id = ${chatId} AND role = 'owner' AND chosen_at IS NOT NULL
      WHERE status = 'suspended' AND (accounts.chat_id = ${chatId} OR members.chat_id IS NOT NULL))
    ON CONFLICT (hash) DO NOTHING`;

  /**
   * Erases the user's rows in the lock order of `verification_ends.ts`, and returns what was erased in which scope.
   * Returns null if the user has a record in a scope that the erasure does not name in `scopes`.
   */
  const eraseOnce = Effect.fnUntraced(function* (
    { chatId, at, scopes }: EraseUser,
    names: ReadonlyArray<string>,
  ) {
    const isTheirs = sql`${inAnyScope} AND chat_id = ${chatId}`;
    const records = yield* readPids(sql`SELECT pid FROM links WHERE ${isTheirs} ORDER BY pid ${forUpdate}`);
    if (records.some((pid) => !scopes.includes(pid))) return null;
    const inRecords = isAmong(JSON.stringify(records));
    yield* sql`DELETE FROM links WHERE pid ${inRecords} AND chat_id = ${chatId}`;
    yield* sql`
      DELETE FROM import_links
      WHERE import_id ${isAnyOf(sql`SELECT id FROM link_imports WHERE pid ${inRecords}`)} AND chat_id = ${chatId}`;
    yield* sql`DELETE FROM verification_sessions WHERE chat_id = ${chatId} AND NOT (${unfinished})`;
    yield* endVerifications(sql, null, chatId, at);
    yield* sql`UPDATE verification_sessions SET chat_id = NULL WHERE chat_id = ${chatId}`;
    yield* sql`DELETE FROM site_sign_ins WHERE chat_id = ${chatId}`;
    yield* sql`DELETE FROM members WHERE chat_id = ${chatId}`;
    yield* sql`UPDATE members SET invited_by = NULL WHERE invited_by = ${chatId}`;
    yield* forgetUserRoles(sql, chatId);
    yield* forgetInCommunities(sql, chatId);
    const messages = yield* forgetInLogs(sql, chatId, at);
    // A scan is acceptable here: erasures are rare, and the table holds the idempotency keys of one day.
    yield* sql`
      UPDATE idempotency_keys
      SET answer = NULL, chat_ids = '[]'
      WHERE chat_ids LIKE ${`%"${chatId}"%`}`;
    const sightings = yield* readSightings(
      sql`DELETE FROM sightings WHERE ${isTheirs} RETURNING ${sightingColumns}`,
    );
    const reviews = yield* readPids(sql`
      DELETE FROM alt_reviews
      WHERE ${inAnyScope} AND (chat_id = ${chatId} OR other_chat_id = ${chatId}) RETURNING pid`);
    yield* forgetSuspects(sql, chatId);
    yield* sql`
      UPDATE blocks SET chat_id = NULL, reason = NULL WHERE ${inAnyScope} AND chat_id = ${chatId}`;
    yield* sql`UPDATE blocks SET member = NULL WHERE member = ${chatId}`;
    const found = yield* eraseRecords(chatId, names);
    return [
      ...records.map((pid) => ({ pid, what: "records" as const })),
      ...sightings.map(({ pid, sighting }) => ({
        pid,
        what: isAtAddress(sighting) ? ("sightings" as const) : ("browsers" as const),
      })),
      ...reviews.map((pid) => ({ pid, what: "reviews" as const })),
      ...messages.map((pid) => ({ pid, what: "messages" as const })),
      ...found.map(({ place, actor }) => ({
        pid: pidOf(place),
        what: actor === null ? ("events" as const) : ("entries" as const),
      })),
    ];
  });

  const eraseRecords = Effect.fnUntraced(function* (chatId: ChatId, names: ReadonlyArray<string>) {
    const found = yield* findUserRecords(sql, chatId, names);
    const erased = found.flatMap((record) => {
      const rest = withoutUser(record, chatId, names);
      return rest === null ? [] : [{ ...record, ...rest }];
    });
    yield* replaceRecords(sql, erased);
    return erased;
  });

  /** Releases an account of the user. If no owner or admin is left, pauses its webhooks and role plans. */
  const endOwn = Effect.fnUntraced(function* (write: EraseUser, account: Account, pseudonym: string) {
    const revoked = yield* releaseAccount(sql, account, pseudonym, write.at);
    if (yield* isClosed(pseudonym)) yield* pauseAll(sql, pseudonym, write.at);
    const details = { revokedKeys: revoked.length };
    yield* insertEntry(sql, { ...write, account: pseudonym, pid: null, action: "user.erased", details });
    return revoked;
  });

  return eraseWith;
};

/** Finds the records of the journal that may name a chat user or one of the user's accounts. */
const findUserRecords = (sql: SqlClient.SqlClient, chatId: ChatId, accountNames: ReadonlyArray<string>) => {
  const columns = recordColumnsOn(sql);
  const ofAccounts = accountNames.map(
    (name) => sql`
      UNION SELECT ${columns} FROM journal
      WHERE place ${dialectOf(sql).isAnyOf(placesOf(sql, name))} AND actor_type = 'account'`,
  );
  return readRecords(sql`
    SELECT ${columns} FROM journal WHERE chat_id = ${chatId}
    UNION SELECT ${columns} FROM journal WHERE other_chat_id = ${chatId}
    UNION SELECT ${columns} FROM journal WHERE member = ${chatId}
    ${ofAccounts.reduce((all, one) => sql`${all} ${one}`, sql``)}
    ORDER BY sequence, place`);
};

/** Finds the audit entries that name a chat user or one of the user's accounts, oldest first. */
export const findUserEntries = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  chatId: ChatId,
  accountNames: ReadonlyArray<string>,
) {
  const found = (yield* findUserRecords(sql, chatId, accountNames)).filter(
    (record) => withoutUser(record, chatId, accountNames) !== null,
  );
  const pids = JSON.stringify(found.flatMap(({ place }) => pidOf(place) ?? []));
  const scopes = yield* readScopes(
    sql`SELECT pid, account, guild_id FROM scopes WHERE pid ${dialectOf(sql).isAmong(pids)}`,
  );
  const accounts = new Map<string, string>(scopes.map(({ pid, account }) => [pid, account]));
  return found.flatMap((record) => {
    const { place, sequence } = record;
    const account = accounts.get(place) ?? place.slice(accountPlace("").length);
    return entryOf(record, { sequence, account, pid: pidOf(place) }) ?? [];
  });
});

const readPids = columnReader("links", "pid", Pid);
