import { ChatId } from "@accountlink/core";
import {
  type ChangeMember,
  type ChooseAccount,
  decideMember,
  firstChoice,
  type Member,
  type MemberRole,
  MemberStore,
  type Membership,
  memberOrder,
  membershipOrder,
} from "@accountlink/core/accounts";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { insertEntry } from "./audit/audit_entry.ts";
import { accountFields } from "./keys/key_row.ts";
import { dialectOf } from "./statements/dialect.ts";
import { literalsOf, tableOf } from "./statements/row.ts";
import { storeOperation } from "./statements/store_operation.ts";

const role = literalsOf<MemberRole>({ owner: true, admin: true, moderator: true });
const fields = { role, since: Schema.Int, chosenAt: Schema.NullOr(Schema.Int) };
const members = tableOf("members", { chatId: ChatId, ...fields });
const memberships = tableOf("members", { ...accountFields, ...fields });

const readMembers = members.reader((member): Member => member);
const readMemberships = memberships.reader(
  ({ role: has, since, chosenAt, ...account }): Membership => ({ account, role: has, since, chosenAt }),
);

export const layer: Layer.Layer<MemberStore, never, SqlClient.SqlClient> = Layer.effect(
  MemberStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const list = listOn(sql);
    const findByChatId = findMembershipsOn(sql);
    const [change, choose] = [changeOn(sql), chooseOn(sql)];
    return MemberStore.of({
      list: (account) => list(account).pipe(storeOperation("MemberStore.list")),
      findByChatId: (chatId) => findByChatId(chatId).pipe(storeOperation("MemberStore.findByChatId")),
      change: (write) => change(write).pipe(storeOperation("MemberStore.change", write.account)),
      choose: (choice) => choose(choice).pipe(storeOperation("MemberStore.choose", choice.account)),
    });
  }),
);

const listOn = (sql: SqlClient.SqlClient) => (account: string) =>
  sql`SELECT ${members.columns} FROM members WHERE account = ${account}`.pipe(
    Effect.flatMap(readMembers),
    Effect.map((found) => found.toSorted(memberOrder)),
  );

export const findMembershipsOn = (sql: SqlClient.SqlClient) => (chatId: ChatId) =>
  sql`
    SELECT name, accounts.chat_id, tier, status, role, since, chosen_at
    FROM members JOIN accounts ON name = account WHERE members.chat_id = ${chatId}`.pipe(
    Effect.flatMap(readMemberships),
    Effect.map((found) => found.toSorted(membershipOrder)),
  );

const changeOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate, usersInUse } = dialectOf(sql);
  const list = listOn(sql);
  return Effect.fnUntraced(function* ({ account, change, ...write }: ChangeMember) {
    const { chatId } = change;
    yield* sql`SELECT locks FROM ${usersInUse(JSON.stringify([chatId]))}`;
    const found = yield* sql`SELECT name FROM accounts WHERE name = ${account} ${forUpdate}`;
    if (found.length === 0) return "unknown";
    const decision = decideMember(yield* list(account), change);
    if (typeof decision === "string") return decision;
    const isTheirs = sql`chat_id = ${chatId} AND account = ${account}`;
    if (change.type === "add") {
      const row = {
        account,
        chat_id: chatId,
        role: change.role,
        since: write.at,
        chosen_at: firstChoice(write),
      };
      yield* sql`INSERT INTO members ${sql.insert(row)}`;
    } else if (change.type === "set_role") {
      yield* sql`UPDATE members SET role = ${change.role} WHERE ${isTheirs}`;
    } else {
      yield* sql`DELETE FROM members WHERE ${isTheirs}`;
      yield* sql`DELETE FROM site_sign_ins WHERE ${isTheirs}`;
    }
    if (decision.role !== "owner") {
      yield* sql`UPDATE accounts SET chat_id = NULL WHERE name = ${account} AND chat_id = ${chatId}`;
    }
    const { action, details } = decision;
    yield* insertEntry(sql, { ...write, account, pid: null, action, details });
    return "changed";
  }, sql.withTransaction);
};

const chooseOn = (sql: SqlClient.SqlClient) => {
  const { rowsWritten } = dialectOf(sql);
  return Effect.fnUntraced(function* ({ signIn, chatId, account, at }: ChooseAccount) {
    const isTheirs = sql`id = ${signIn} AND chat_id = ${chatId}`;
    const chosen = yield* sql`
      UPDATE members SET chosen_at = ${at} WHERE account = ${account} AND chat_id = ${chatId}
        AND EXISTS (SELECT 1 FROM site_sign_ins WHERE ${isTheirs})`.raw;
    if (rowsWritten(chosen) === 0) return false;
    yield* sql`UPDATE site_sign_ins SET account = ${account} WHERE ${isTheirs}`;
    return true;
  }, sql.withTransaction);
};
