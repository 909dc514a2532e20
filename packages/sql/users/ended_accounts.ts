/** What the erasure of a user does to accounts that the user has or runs. */
import type { ChatId, KeyId } from "@accountlink/core";
import { isAccountOf } from "@accountlink/core/keys";
import type { AccountId, KnownAccount, Tx } from "@accountlink/core/records";
import { closeAccount, endOwnAccount, isRunBy, releaseErased } from "@accountlink/core/storage";
import type { EraseUser } from "@accountlink/core/users";
import { Effect } from "effect";
import { accountColumns, namesOfUser, readAccounts } from "../keys/accounts.ts";
import { withId } from "../keys/known_accounts.ts";
import { withTx } from "../records.ts";
import type { StoreParts } from "../statements/store_operation.ts";

const tell = (tx: Tx, write: EraseUser, account: AccountId, revoked: ReadonlyArray<KeyId>) =>
  tx.journal({ ...write, pid: null, account }, "user.erased", { revokedKeys: revoked.length });

export const endedAccountsOn = ({ sql, forUpdate, isAmong, isAnyOf }: StoreParts) => {
  const isInCharge = sql`role <> 'moderator' AND chosen_at IS NOT NULL`;

  /** Locks the accounts that have the user's chat ID, and the others that the user runs as an owner or admin. */
  const lockAccounts = Effect.fnUntraced(function* (chatId: ChatId) {
    const theirs = sql`
      ${namesOfUser(sql, chatId)}
      UNION SELECT account FROM members WHERE chat_id = ${chatId} AND ${isInCharge}`;
    const accounts = yield* readAccounts(
      sql`SELECT ${accountColumns} FROM accounts WHERE name ${isAnyOf(theirs)} ORDER BY name ${forUpdate}`,
    );
    const known = accounts.map(withId);
    const own = known.filter((account) => isAccountOf(account, chatId));
    const names = own.map(({ name }) => name);
    yield* sql`SELECT pid FROM scopes WHERE account ${isAmong(names)} ORDER BY pid ${forUpdate}`;
    return { own, run: known.filter((account) => !isAccountOf(account, chatId)) };
  });

  /** Closes an account if the user was its last owner or admin, and returns the revoked keys. */
  const leaveAccount = (write: EraseUser, account: KnownAccount) =>
    withTx(
      sql,
      function* (tx) {
        if (!(yield* isRunBy(tx, account, write.chatId))) return [];
        const { revoked } = yield* closeAccount(tx, account, write.at);
        yield* tell(tx, write, account.id, revoked);
        return revoked;
      },
      true,
    );

  const keepSuspension = ({ chatId, ownerHash }: EraseUser) => sql`
    INSERT INTO suspended_owners (hash)
    SELECT ${ownerHash}
    WHERE EXISTS (SELECT 1 FROM accounts WHERE chat_id = ${chatId} AND status = 'suspended')
      OR EXISTS (
        SELECT 1 FROM members JOIN accounts ON name = account
        WHERE members.chat_id = ${chatId} AND role = 'owner' AND chosen_at IS NOT NULL AND status = 'suspended')
    ON CONFLICT (hash) DO NOTHING`;

  /** Releases an account of the user, and returns the revoked keys. */
  const endOwn = (write: EraseUser, account: KnownAccount, pseudonym: string) =>
    withTx(
      sql,
      function* (tx) {
        const { revoked } = yield* endOwnAccount(tx, account, write.chatId, write.at);
        yield* tell(tx, write, yield* releaseErased(tx, account, pseudonym), revoked);
        return revoked;
      },
      true,
    );

  return { lockAccounts, keepSuspension, leaveAccount, endOwn };
};
