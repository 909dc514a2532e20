import { ChatId, Pid } from "@accountlink/core";
import {
  decideMember,
  hasAccepted,
  hasLapsed,
  lapsedUntil,
  type Member,
  type MemberRole,
  MemberStore,
  type Membership,
  memberOrder,
  membershipOrder,
  newMember,
  runsAccount,
  runsTooMany,
} from "@accountlink/core/accounts";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Schema } from "effect";
import { SqlClient, type Statement } from "effect/sql";
import { insertEntry } from "./journal/records.ts";
import { closeAccount } from "./keys/account_end.ts";
import { accountFields, accountOf } from "./keys/accounts.ts";
import { batchedLookup } from "./statements/batching.ts";
import { literalsOf, tableOf } from "./statements/row.ts";
import { storeLayer } from "./statements/store_operation.ts";

const role = literalsOf<MemberRole>({ owner: true, admin: true, moderator: true });
const fields = {
  role,
  scopes: Schema.NullOr(Schema.fromJsonString(Schema.Array(Pid))),
  since: Schema.Int,
  chosenAt: Schema.NullOr(Schema.Int),
  invitedBy: Schema.NullOr(ChatId),
};
const members = tableOf("members", { chatId: ChatId, ...fields });
const memberships = tableOf("members", { ...accountFields, ...fields });

const readMembers = members.reader((member): Member => member);
const readMemberships = memberships.reader(
  ({ role: has, scopes, since, chosenAt, invitedBy, ...account }): Membership => ({
    account: accountOf(account),
    role: has,
    scopes,
    since,
    chosenAt,
    invitedBy,
  }),
);

const sorted = <E>(found: Effect.Effect<ReadonlyArray<Member>, E>) =>
  Effect.map(found, (all) => all.toSorted(memberOrder));

export const layer = storeLayer(MemberStore)((parts) => {
  const { sql, operation, transaction, forUpdate, isAmong, onlyOne, usersInUse } = parts;

  const membersOf = sql`SELECT account, ${members.columns} FROM members`;
  const memberRows = batchedLookup<[string]>(parts, {
    columns: ["account"],
    one: (account) => sql`${membersOf} WHERE account = ${account}`,
    several: (accounts) => sql`${membersOf} WHERE account ${isAmong(JSON.stringify(accounts.flat()))}`,
  });
  /** Reads the members in a transaction, as it sees them. */
  const listNow = (account: string) => sorted(readMembers(sql`${membersOf} WHERE account = ${account}`));

  /** Locks the number of accounts that the user runs until the end of the transaction. */
  const lockAccountsOf = (chatId: ChatId) => sql`SELECT locks FROM ${onlyOne(`accounts of ${chatId}`)}`;

  return {
    list: operation("list", (account) => sorted(readMembers(memberRows(account)))),

    findByChatId: operation("findByChatId", (chatId) => findMemberships(sql, chatId)),

    change: transaction("change", function* ({ account, change, ...write }) {
      const { chatId } = change;
      assertStorable([account]);
      const added = newMember(write);
      const named = added.invitedBy === null ? [chatId] : [chatId, added.invitedBy];
      yield* sql`SELECT locks FROM ${usersInUse(JSON.stringify(named))}`;
      const putsInCharge = change.type === "set_role" && runsAccount(change.role ?? null);
      if (putsInCharge) yield* lockAccountsOf(chatId);
      const found = yield* sql`SELECT name FROM accounts WHERE name = ${account} ${forUpdate}`;
      if (found.length === 0) return "unknown";
      yield* sql`
        DELETE FROM members
        WHERE account = ${account} AND chosen_at IS NULL AND since <= ${lapsedUntil(write.at)}`;
      const isFull =
        putsInCharge &&
        write.actor.type !== "operator" &&
        runsTooMany(yield* findMemberships(sql, chatId), account);
      const decision = decideMember(yield* listNow(account), change, isFull);
      if (typeof decision === "string") return decision;
      const isTheirs = sql`chat_id = ${chatId} AND account = ${account}`;
      if (change.type === "add") {
        yield* insertMember(sql, account, { chatId, ...added, ...decision, role: change.role });
      } else if (change.type === "set_role") {
        yield* sql`UPDATE members SET role = ${decision.role}, scopes = ${scopesJson(decision)} WHERE ${isTheirs}`;
      } else {
        yield* sql`DELETE FROM members WHERE ${isTheirs}`;
        yield* sql`DELETE FROM site_sign_ins WHERE ${isTheirs}`;
      }
      if (decision.role !== "owner") {
        yield* sql`UPDATE accounts SET chat_id = NULL WHERE name = ${account} AND chat_id = ${chatId}`;
      }
      if (runsAccount(decision.role)) {
        yield* sql`UPDATE accounts SET operator = 0 WHERE name = ${account} AND operator = 1`;
      }
      const { action, closes } = decision;
      const revokedKeys = closes ? yield* closeAccount(sql, account, write.at) : [];
      const details = { ...decision.details, ...(closes && { revokedKeys: revokedKeys.length }) };
      yield* insertEntry(sql, { ...write, account, pid: null, action, details });
      return { revokedKeys };
    }),

    choose: transaction("choose", function* ({ signIn, chatId, account, requestId, at }) {
      assertStorable([account]);
      const isTheirs = sql`id = ${signIn} AND chat_id = ${chatId}`;
      const choose = (isOpen: Statement.Fragment) => sql<{ readonly role: MemberRole }>`
        UPDATE members SET chosen_at = ${at} WHERE account = ${account} AND chat_id = ${chatId} AND ${isOpen}
          AND EXISTS (SELECT 1 FROM site_sign_ins WHERE ${isTheirs}) RETURNING role`;
      yield* sql`SELECT locks FROM ${usersInUse(JSON.stringify([chatId]))}`;
      yield* lockAccountsOf(chatId);
      const own = yield* findMemberships(sql, chatId);
      const invited = own.find(({ account: { name } }) => name === account);
      const isOpen = invited !== undefined && !hasAccepted(invited) && !hasLapsed(invited, at);
      if (isOpen && runsAccount(invited.role) && runsTooMany(own, account)) return "account_limit";
      const [accepted] = yield* choose(sql`chosen_at IS NULL AND since > ${lapsedUntil(at)}`);
      if (accepted !== undefined) {
        const actor = { type: "account", id: account, member: chatId } as const;
        const details = { chatId, role: accepted.role };
        const entry = { actor, requestId, at, account, pid: null, details } as const;
        yield* insertEntry(sql, { ...entry, action: "member.accepted" });
      } else if ((yield* choose(sql`chosen_at IS NOT NULL`)).length === 0) {
        return "unknown";
      }
      yield* sql`UPDATE site_sign_ins SET account = ${account} WHERE ${isTheirs}`;
      return "chosen";
    }),
  };
});

const scopesJson = ({ scopes }: Pick<Member, "scopes">): string | null => scopes && JSON.stringify(scopes);

const insertMember = (sql: SqlClient.SqlClient, account: string, member: Member) => {
  const row = members.rowOf({ ...member, scopes: scopesJson(member) });
  return sql`INSERT INTO members ${sql.insert({ account, ...row })}`;
};

export const findMemberships = (sql: SqlClient.SqlClient, chatId: ChatId) =>
  Effect.map(
    readMemberships(sql`
      SELECT name, accounts.chat_id, tier, status, operator, display_name, role, scopes, since, chosen_at, invited_by
      FROM members JOIN accounts ON name = account WHERE members.chat_id = ${chatId}`),
    (found) => found.toSorted(membershipOrder),
  );
