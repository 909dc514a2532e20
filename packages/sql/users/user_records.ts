/** Finds and erases the records of the journal that name a chat user or one of the user's accounts, page by page. */
import type { ChatId } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { entryOf, withoutUser } from "@accountlink/core/journal";
import type { ErasedThing } from "@accountlink/core/users";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import {
  accountPlace,
  pidOf,
  readRecords,
  recordColumnsOn,
  replaceRecords,
  type StoredRecord,
} from "../journal/records.ts";
import { readScopes } from "../keys/accounts.ts";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize } from "../statements/in_batches.ts";

/** A user in the journal. */
interface Named {
  readonly chatId: ChatId;
  /** The names of the user's accounts. */
  readonly names: ReadonlyArray<string>;
}

/** Where a page of records ended. */
export type RecordPlace = Pick<StoredRecord, "sequence" | "place">;

export const userRecordsOn = (sql: SqlClient.SqlClient) => {
  const { elements, forUpdate, isAmong, isRemote } = dialectOf(sql);

  /** Reads the next records that may name a user, oldest first, and the place of the last one; null if none are left. */
  const page = Effect.fnUntraced(function* (user: Named, after: RecordPlace | null, limit: number) {
    const { sequence, place } = after ?? { sequence: -1, place: "" };
    const first = sql`ORDER BY sequence, place LIMIT ${limit}`;
    // Several selects, so that each uses an index.
    const all = [
      sql`chat_id = ${user.chatId}`,
      sql`other_chat_id = ${user.chatId}`,
      sql`member = ${user.chatId}`,
      ...user.names.map((name) => sql`actor_type = 'account' AND actor_id = ${name}`),
    ]
      .map(
        (names) => sql`
          SELECT * FROM (
            SELECT ${recordColumnsOn(sql)} FROM journal
            WHERE ${names} AND (sequence, place) > (${sequence}, ${place}) ${first}) AS part`,
      )
      .reduce((some, next) => sql`${some} UNION ALL ${next}`);
    const found = yield* readRecords(sql`SELECT * FROM (${all}) AS merged ${first}`);
    const unique = new Map(found.map((record) => [`${record.sequence} ${record.place}`, record]));
    return { found: [...unique.values()], last: found.length < limit ? null : (found.at(-1) ?? null) };
  });

  /** Locks records and reads them again. An erasure of another user in the same record may have changed it meanwhile. */
  const lockRecords = (found: ReadonlyArray<StoredRecord>) => {
    if (found.length === 0 || !isRemote) return Effect.succeed(found);
    const keys = JSON.stringify(found.map(({ place, sequence }) => [place, sequence]));
    return readRecords(sql`
      SELECT ${recordColumnsOn(sql)} FROM journal
      WHERE (place, sequence) IN (SELECT value ->> 0, CAST(value ->> 1 AS BIGINT) FROM ${elements(keys)})
      ORDER BY sequence, place ${forUpdate}`);
  };

  /** Erases a user from the next records, and returns what was erased, and where to continue; null if none are left. */
  const erasePage = Effect.fnUntraced(function* (user: Named, after: RecordPlace | null, limit: number) {
    const { found, last } = yield* page(user, after, limit);
    const erased = (yield* lockRecords(found)).flatMap((record) => {
      const rest = withoutUser(record, user.chatId, user.names);
      return rest === null ? [] : [{ ...record, ...rest }];
    });
    yield* replaceRecords(sql, erased);
    const things = erased.map(({ place, sequence, actor }) => ({
      pid: pidOf(place),
      what: actor === null ? ("events" as const) : ("entries" as const),
      sequence,
    }));
    return { things, last };
  });

  const eraseAll = Effect.fnUntraced(function* (user: Named) {
    const things: Array<ErasedThing> = [];
    for (let after: RecordPlace | null = null; ; ) {
      const erased: Effect.Success<ReturnType<typeof erasePage>> = yield* erasePage(user, after, batchSize);
      things.push(...erased.things);
      after = erased.last;
      if (after === null) return things;
    }
  });

  /** Returns the audit entries of records that name the user, with the names of their accounts. */
  const entriesOf = Effect.fnUntraced(function* (user: Named, found: ReadonlyArray<StoredRecord>) {
    const named = found.filter((record) => withoutUser(record, user.chatId, user.names) !== null);
    if (named.length === 0) return [];
    const pids = [...new Set(named.flatMap(({ place }) => pidOf(place) ?? []))];
    const scopes = yield* readScopes(
      sql`SELECT pid, account, guild_id FROM scopes WHERE pid ${isAmong(pids)}`,
    );
    const accounts = new Map<string, string>(scopes.map(({ pid, account }) => [pid, account]));
    return named.flatMap((record) => {
      const { place, sequence } = record;
      const account = accounts.get(place) ?? place.slice(accountPlace("").length);
      return entryOf(record, { sequence, account, pid: pidOf(place) }) ?? [];
    });
  });

  /** Returns a page of audit entries that name the user, which is empty only behind the last one. */
  const entries = Effect.fnUntraced(function* (user: Named, entry: AuditEntry | null, limit: number) {
    let after: RecordPlace | null = entry && {
      sequence: entry.sequence,
      place: entry.pid ?? accountPlace(entry.account),
    };
    for (;;) {
      const { found, last }: Effect.Success<ReturnType<typeof page>> = yield* page(user, after, limit);
      const named = yield* entriesOf(user, found);
      if (named.length > 0 || last === null) return named;
      after = last;
      yield* Effect.yieldNow;
    }
  });

  return { page, erasePage, eraseAll, entries };
};
