/** Erases a chat user in one transaction. Finds the user's events before the transaction starts. */
import { type ChatId, Pid } from "@accountlink/core";
import { isAtAddress } from "@accountlink/core/addresses";
import { type AuditEntry, signedBy, usersOf } from "@accountlink/core/audit";
import { newEvent } from "@accountlink/core/events";
import type { Account } from "@accountlink/core/keys";
import {
  countErased,
  type ErasedThing,
  type EraseUser,
  type UserErased,
  withoutUser,
} from "@accountlink/core/users";
import { Data, Effect, Option } from "effect";
import type { SqlClient } from "effect/sql";
import { readSightings, sightingColumns } from "../alts/sighting_row.ts";
import { insertEntry, ownerOf } from "../audit/audit_entry.ts";
import { entryColumns, readEntries } from "../audit/audit_log.ts";
import { type EventsToErase, eraseEventsOn, findEventsToEraseOn } from "../events/event_erasure.ts";
import { insertEvents } from "../events/event_writes.ts";
import { endVerificationsOn, unfinished } from "../flow/verification_ends.ts";
import { accountColumns, readAccounts, readKeyIds } from "../keys/key_row.ts";
import { forgetUserRolesOn } from "../roles/role_plan_store.ts";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader } from "../statements/row.ts";

/**
 * The user has a record in a scope that the erasure request does not name in `scopes`. This error rolls the erasure
 * back.
 */
class RecordElsewhere extends Data.TaggedError("RecordElsewhere") {}

export const eraseUserOn = (sql: SqlClient.SqlClient) => {
  const { isRemote, userInErasure } = dialectOf(sql);
  const lockAccounts = lockAccountsOn(sql);
  const keepSuspension = keepSuspensionOn(sql);
  const eraseOnce = eraseOnceOn(sql);
  const releaseAccount = releaseAccountOn(sql);
  const findEvents = findEventsToEraseOn(sql);

  const eraseWith = Effect.fnUntraced(function* (write: EraseUser, events: EventsToErase) {
    yield* sql`SELECT locks FROM ${userInErasure(write.chatId)}`;
    const accounts = yield* lockAccounts(write.chatId);
    const names = accounts.map(({ name }) => name);
    yield* keepSuspension(write);
    const things: Array<ErasedThing> = [];
    const told = new Set<Pid>();
    let pass = yield* eraseOnce(write, names, events);
    while (pass.length > 0) {
      for (const thing of pass) {
        const { pid } = thing;
        things.push(thing);
        // Insert the erasure event before the next pass. That pass may find new writes, and in the feed, the erasure
        // event must precede their events.
        if (pid !== null && !told.has(pid)) yield* insertEvents(sql, pid, [erasureOf(write)]);
        if (pid !== null) told.add(pid);
      }
      // If another write commits between two statements of a pass, the pass may erase only a part of this write. Repeat
      // until a pass finds nothing.
      pass = isRemote ? yield* eraseOnce(write, names, events) : [];
    }

    const revokedKeys = yield* Effect.forEach(accounts, (account, index) =>
      releaseAccount(write, account, index === 0 ? write.pseudonym : `${write.pseudonym}-${index + 1}`),
    );
    const { total, byScope } = countErased(things);
    for (const [pid, details] of byScope) {
      const entry = { ...write, pid, action: "user.erased", account: ownerOf(sql, pid) } as const;
      yield* insertEntry(sql, { ...entry, details: { ...details } });
    }
    return Option.some<UserErased>({ ...total, accounts: accounts.length, revokedKeys: revokedKeys.flat() });
  }, sql.withTransaction);

  return (write: EraseUser) => Effect.flatMap(findEvents(write.chatId), (events) => eraseWith(write, events));
};

const erasureOf = ({ chatId, at }: EraseUser) => newEvent(at, { type: "user.erased", data: { chatId } });

const lockAccountsOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate, isAmong } = dialectOf(sql);
  return Effect.fnUntraced(function* (chatId: ChatId) {
    const accounts = yield* Effect.flatMap(
      sql`SELECT ${accountColumns} FROM accounts WHERE chat_id = ${chatId} ORDER BY name ${forUpdate}`,
      readAccounts,
    );
    const names = JSON.stringify(accounts.map(({ name }) => name));
    yield* sql`SELECT pid FROM scopes WHERE account ${isAmong(names)} ORDER BY pid ${forUpdate}`;
    return accounts;
  });
};

/** Keeps the hash of a user who owns a suspended account. */
const keepSuspensionOn =
  (sql: SqlClient.SqlClient) =>
  ({ chatId, ownerHash }: EraseUser) =>
    sql`
    INSERT INTO suspended_owners (hash)
    SELECT ${ownerHash} WHERE EXISTS (
      SELECT 1 FROM accounts LEFT JOIN members
        ON account = name AND members.chat_id = ${chatId} AND role = 'owner' AND chosen_at IS NOT NULL
      WHERE status = 'suspended' AND (accounts.chat_id = ${chatId} OR members.chat_id IS NOT NULL))
    ON CONFLICT (hash) DO NOTHING`;

/** Erases the user's rows in the lock order of `verification_ends.ts`, and returns what was erased in which scope. */
const eraseOnceOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate, isAnyOf, isAmong } = dialectOf(sql);
  const endVerifications = endVerificationsOn(sql);
  const eraseEntries = eraseEntriesOn(sql);
  const eraseEvents = eraseEventsOn(sql);
  const forgetRoles = forgetUserRolesOn(sql);

  return Effect.fnUntraced(function* (
    { chatId, at, scopes }: EraseUser,
    names: ReadonlyArray<string>,
    toErase: EventsToErase,
  ) {
    const isTheirs = sql`pid ${isAnyOf(sql`SELECT pid FROM scopes`)} AND chat_id = ${chatId}`;
    const records = yield* Effect.flatMap(
      sql`SELECT pid FROM links WHERE ${isTheirs} ORDER BY pid ${forUpdate}`,
      readPids,
    );
    if (records.some((pid) => !scopes.includes(pid))) return yield* new RecordElsewhere();
    yield* sql`DELETE FROM links WHERE pid ${isAmong(JSON.stringify(records))} AND chat_id = ${chatId}`;
    yield* sql`DELETE FROM verification_sessions WHERE chat_id = ${chatId} AND NOT (${unfinished})`;
    yield* endVerifications(null, chatId, at);
    yield* sql`UPDATE verification_sessions SET chat_id = NULL WHERE chat_id = ${chatId}`;
    yield* sql`DELETE FROM site_sign_ins WHERE chat_id = ${chatId}`;
    yield* sql`DELETE FROM members WHERE chat_id = ${chatId}`;
    yield* sql`UPDATE members SET invited_by = NULL WHERE invited_by = ${chatId}`;
    yield* forgetRoles(chatId);
    // A scan is acceptable here: erasures are rare, and the table holds the idempotency keys of one day.
    yield* sql`
      UPDATE idempotency_keys
      SET request_id = '', answer = NULL, chat_ids = '[]', held_until = NULL, erased = 1
      WHERE chat_ids LIKE ${`%"${chatId}"%`}`;
    const sightings = yield* Effect.flatMap(
      sql`DELETE FROM sightings WHERE ${isTheirs} RETURNING ${sightingColumns}`,
      readSightings,
    );
    const inScopes = sql`pid ${isAnyOf(sql`SELECT pid FROM scopes`)}`;
    const reviews = yield* Effect.flatMap(
      sql`
        DELETE FROM alt_reviews
        WHERE ${inScopes} AND (chat_id = ${chatId} OR other_chat_id = ${chatId}) RETURNING pid`,
      readPids,
    );
    const entries = yield* eraseEntries(chatId, names);
    const events = yield* eraseEvents(chatId, toErase);
    return [
      ...records.map((pid) => ({ pid, what: "records" as const })),
      ...sightings.map(({ pid, sighting }) => ({
        pid,
        what: isAtAddress(sighting) ? ("sightings" as const) : ("browsers" as const),
      })),
      ...reviews.map((pid) => ({ pid, what: "reviews" as const })),
      ...entries.map(({ pid }) => ({ pid, what: "entries" as const })),
      ...events.map((pid) => ({ pid, what: "events" as const })),
    ];
  });
};

/** Returns a function that finds audit entries that name a chat user or one of the user's accounts, oldest first. */
export const userEntriesOn = (sql: SqlClient.SqlClient) => {
  const { isAmong } = dialectOf(sql);
  return Effect.fnUntraced(function* (chatId: ChatId, accountNames: ReadonlyArray<string>) {
    const entries = yield* Effect.flatMap(
      sql`
        SELECT ${entryColumns} FROM audit_log WHERE chat_id = ${chatId}
        UNION SELECT ${entryColumns} FROM audit_log WHERE other_chat_id = ${chatId}
        UNION SELECT ${entryColumns} FROM audit_log WHERE member = ${chatId}
        UNION SELECT ${entryColumns} FROM audit_log
          WHERE account ${isAmong(JSON.stringify(accountNames))} AND actor_type = 'account'
        ORDER BY sequence`,
      readEntries,
    );
    return entries.filter((entry: AuditEntry) => withoutUser(entry, chatId, accountNames) !== null);
  });
};

const eraseEntriesOn = (sql: SqlClient.SqlClient) => {
  const { elements } = dialectOf(sql);
  const findEntries = userEntriesOn(sql);
  return Effect.fnUntraced(function* (chatId: ChatId, names: ReadonlyArray<string>) {
    const entries = yield* findEntries(chatId, names);
    const rows = JSON.stringify(entries.map((entry) => erasedRow(entry, chatId, names)));
    yield* sql`
      UPDATE audit_log
      SET actor_id = value ->> 1, details = value ->> 2, chat_id = value ->> 3, other_chat_id = value ->> 4,
        member = value ->> 5
      FROM ${elements(rows)} WHERE sequence = CAST(value ->> 0 AS BIGINT)`;
    return entries;
  });
};

const erasedRow = (entry: AuditEntry, chatId: ChatId, names: ReadonlyArray<string>) => {
  const { actor, details } = withoutUser(entry, chatId, names) ?? entry;
  const [chatUser = null, otherUser = null] = usersOf({ actor, details });
  return [entry.sequence, actor.id, JSON.stringify(details), chatUser, otherUser, signedBy({ actor }).member];
};

/**
 * Removes the chat ID and the name of an account, deletes its webhooks and role plans, revokes its keys, and clears
 * what the owner entered for keys and scopes.
 */
const releaseAccountOn = (sql: SqlClient.SqlClient) => {
  const { isAnyOf } = dialectOf(sql);
  return Effect.fnUntraced(function* (write: EraseUser, { name, tier, status }: Account, pseudonym: string) {
    yield* sql`INSERT INTO accounts (name, chat_id, tier, status) VALUES (${pseudonym}, NULL, ${tier}, ${status})`;
    yield* sql`
      UPDATE scopes SET account = ${pseudonym}, display_name = NULL, support_url = NULL, done_text = NULL
      WHERE account = ${name}`;
    yield* sql`
      DELETE FROM site_sign_ins
      WHERE chat_id ${isAnyOf(sql`SELECT chat_id FROM members WHERE account = ${name}`)} AND account = ${name}`;
    yield* sql`DELETE FROM members WHERE account = ${name} AND chosen_at IS NULL`;
    yield* sql`UPDATE members SET account = ${pseudonym} WHERE account = ${name}`;
    yield* sql`UPDATE audit_log SET account = ${pseudonym} WHERE account = ${name}`;
    const inScopes = sql`pid IN (SELECT pid FROM scopes WHERE account = ${pseudonym})`;
    const revoked = yield* Effect.flatMap(
      sql`
        UPDATE keys SET status = 'revoked', revoked_at = ${write.at}
        WHERE ${inScopes} AND status <> 'revoked' RETURNING id`,
      readKeyIds,
    );
    yield* sql`
      UPDATE keys SET name = '', allow_ips = '[]', deny_ips = '[]', redirect_origins = '[]' WHERE ${inScopes}`;
    yield* sql`
      DELETE FROM webhook_deliveries WHERE webhook_id IN (SELECT id FROM webhooks WHERE ${inScopes})`;
    for (const table of ["webhooks", "role_members", "role_problems", "role_plans"]) {
      yield* sql`DELETE FROM ${sql(table)} WHERE ${inScopes}`;
    }
    yield* sql`DELETE FROM accounts WHERE name = ${name}`;
    const details = { revokedKeys: revoked.length };
    yield* insertEntry(sql, { ...write, account: pseudonym, pid: null, action: "user.erased", details });
    return revoked;
  });
};

const readPids = columnReader("links", "pid", Pid);
