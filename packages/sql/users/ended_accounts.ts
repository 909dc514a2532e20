/** What the erasure of a user does to accounts that the user has or runs. */
import type { ChatId } from "@accountlink/core";
import type { Account } from "@accountlink/core/keys";
import { closeAccount, pauseAll } from "@accountlink/core/storage";
import type { EraseUser } from "@accountlink/core/users";
import { Effect } from "effect";
import { insertEntry } from "../journal/records.ts";
import { releaseAccount } from "../keys/account_end.ts";
import { accountColumns, readAccounts } from "../keys/accounts.ts";
import { withTx } from "../records.ts";
import type { StoreParts } from "../statements/store_operation.ts";

export const endedAccountsOn = ({ sql, forUpdate, isAmong, isAnyOf }: StoreParts) => {
  const isInCharge = sql`role <> 'moderator' AND chosen_at IS NOT NULL`;

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
  const leaveAccount = Effect.fnUntraced(function* (write: EraseUser, account: Account) {
    const { name } = account;
    if (!(yield* isClosed(name))) return [];
    const close = withTx(sql, (tx) => closeAccount(tx, { ...account, id: name }, write.at), true);
    const { revoked } = yield* close;
    const details = { revokedKeys: revoked.length };
    yield* insertEntry(sql, { ...write, account: name, pid: null, action: "user.erased", details });
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

  /** Releases an account of the user. If no owner or admin is left, pauses its webhooks and role plans. */
  const endOwn = Effect.fnUntraced(function* (write: EraseUser, account: Account, pseudonym: string) {
    const revoked = yield* releaseAccount(sql, account, pseudonym, write.at);
    if (yield* isClosed(pseudonym)) yield* withTx(sql, (tx) => pauseAll(tx, pseudonym, write.at), true);
    const details = { revokedKeys: revoked.length };
    yield* insertEntry(sql, { ...write, account: pseudonym, pid: null, action: "user.erased", details });
    return revoked;
  });

  return { lockAccounts, keepSuspension, leaveAccount, endOwn };
};
