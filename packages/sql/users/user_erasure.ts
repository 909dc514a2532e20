/**
 * Erases a chat user: in one transaction, or a user with much data in steps before it. The final transaction erases what
 * the steps have left, and what was written meanwhile.
 */
import type { ChatId, Pid } from "@accountlink/core";
import { signedBy } from "@accountlink/core/audit";
import { userErased } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import {
  addErased,
  type ErasedThing,
  type EraseUser,
  type ErasureTally,
  nothingErased,
  type UserErased,
} from "@accountlink/core/users";
import { Array as Arr, Clock, Effect, Option, Schema } from "effect";
import { insertPart } from "../journal/records.ts";
import { moveEntries } from "../keys/account_end.ts";
import { namesOfUser } from "../keys/accounts.ts";
import { columnReader } from "../statements/row.ts";
import { type Ending, rollBack, type StoreParts } from "../statements/store_operation.ts";
import { endedAccountsOn } from "./ended_accounts.ts";
import { erasedRowsOn } from "./erased_rows.ts";
import { type RecordPlace, userRecordsOn } from "./user_records.ts";

/** How many records of the journal, or scopes, a step changes at most. */
const recordsOfStep = 200;
const scopesOfStep = 50;

export const eraseUserOn = (parts: StoreParts) => {
  const { sql, operation, bulkTransaction, isRemote, onlyOne } = parts;
  const { page, erasePage } = userRecordsOn(sql);
  const { eraseLinks, eraseOthers, eraseOnce } = erasedRowsOn(parts);
  const { lockAccounts, keepSuspension, leaveAccount, endOwn } = endedAccountsOn(parts);

  const namesOf = (chatId: ChatId) => readNames(sql`${namesOfUser(sql, chatId)} ORDER BY name`);

  const isLarge = operation("erase", function* ({ chatId, scopes }: EraseUser) {
    const names = yield* namesOf(chatId);
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
    return { names: yield* namesOf(chatId), pseudonym: begun };
  });

  const tell = (write: EraseUser, tally: ErasureTally, things: ReadonlyArray<ErasedThing>) =>
    addErased(tally, things, (pid, details, entry) => {
      const erased = userErased(write, write.chatId, { ...details });
      return Effect.map(insertPart(sql, pid, erased, entry, entry === null), (sequence) => sequence ?? 0);
    });

  const eraseFromScopes = bulkTransaction(
    "erase",
    function* (write: EraseUser, pids: ReadonlyArray<Pid>, tally: ErasureTally) {
      yield* beginStep(write);
      const records = yield* eraseLinks(write.chatId, pids);
      return yield* tell(write, tally, [...records, ...(yield* eraseOthers(write.chatId, pids))]);
    },
  );

  const eraseSomeRecords = bulkTransaction(
    "erase",
    function* (write: EraseUser, after: RecordPlace | null, tally: ErasureTally) {
      const user = { chatId: write.chatId, names: (yield* beginStep(write)).names };
      const { things, last } = yield* erasePage(user, after, recordsOfStep);
      return { tally: yield* tell(write, tally, things), last };
    },
  );

  /** Moves entries of the user's accounts to where they belong from the end on. Returns whether some may be left. */
  const moveSomeEntries = bulkTransaction("erase", function* (write: EraseUser) {
    const { names, pseudonym } = yield* beginStep(write);
    for (const [index, name] of names.entries()) {
      if (yield* moveEntries(sql, name, pseudonymOf(pseudonym, index))) return true;
    }
    return false;
  });

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

  return (write: EraseUser) =>
    Effect.gen(function* () {
      assertStorable([write.pseudonym]);
      const tally = (yield* isLarge(write)) ? yield* eraseInSteps(write) : nothingErased;
      return yield* endErasure(write, tally);
    });
};

/** The name of the user's account of this number, counted from 0, after the erasure. */
const pseudonymOf = (pseudonym: string, index: number): string =>
  index === 0 ? pseudonym : `${pseudonym}-${index + 1}`;

const readNames = columnReader("accounts", "name", Schema.String);

const readPseudonyms = columnReader("erasures", "pseudonym", Schema.String);
