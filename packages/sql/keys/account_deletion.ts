/** Ends an account: its entries in steps, since an account may have very many, then the rest in one transaction. */
import type { KeyId } from "@accountlink/core";
import { type EndAccount, endOfAccount } from "@accountlink/core/keys";
import { assertStorable } from "@accountlink/core/storable_text";
import { pauseAll } from "@accountlink/core/storage";
import { Effect, Option } from "effect";
import { deleteFiles } from "../import_files/deleted_files.ts";
import { accountPlace, insertEntry } from "../journal/records.ts";
import { withTx } from "../records.ts";
import type { Ending, StoreParts } from "../statements/store_operation.ts";
import { entriesOfStep, moveEntries, releaseAccount, renameActors } from "./account_end.ts";
import { accountColumns, readAccounts } from "./accounts.ts";

export const endAccountOn = ({ sql, operation, bulkTransaction, forUpdate }: StoreParts) => {
  const endSome = bulkTransaction("endAccount", function* ({ name, pseudonym }: EndAccount) {
    return (yield* moveEntries(sql, name, pseudonym)) || (yield* renameActors(sql, name, pseudonym));
  });

  const isLarge = operation("endAccount", function* ({ name }: EndAccount) {
    const many = sql`LIMIT 1 OFFSET ${entriesOfStep}`;
    const moved = yield* sql`SELECT 1 FROM journal WHERE place = ${accountPlace(name)} ${many}`;
    if (moved.length > 0) return true;
    const renamed = sql`SELECT 1 FROM journal WHERE actor_type = 'account' AND actor_id = ${name} ${many}`;
    return (yield* renamed).length > 0;
  });

  const deleteOwnFiles = operation("endAccount", ({ name }: EndAccount) =>
    deleteFiles(sql, sql`account = ${name}`),
  );

  const endInSteps = Effect.fnUntraced(function* (write: EndAccount) {
    assertStorable([write.name, write.pseudonym]);
    yield* deleteOwnFiles(write);
    if (!(yield* isLarge(write))) return;
    while (yield* endSome(write)) yield* Effect.yieldNow;
  });

  const endRest = bulkTransaction(
    "endAccount",
    function* ({
      name,
      pseudonym,
      ...write
    }: EndAccount): Effect.fn.Return<Option.Option<ReadonlyArray<KeyId>>, Ending> {
      const [account] = yield* readAccounts(
        sql`SELECT ${accountColumns} FROM accounts WHERE name = ${name} ${forUpdate}`,
      );
      if (account === undefined) return Option.none();
      yield* sql`SELECT pid FROM scopes WHERE account = ${name} ORDER BY pid ${forUpdate}`;
      const revoked = yield* releaseAccount(sql, account, pseudonym, write.at);
      yield* withTx(sql, (tx) => pauseAll(tx, pseudonym, write.at), true);
      yield* sql`DELETE FROM members WHERE account = ${pseudonym}`;
      while (yield* renameActors(sql, name, pseudonym));
      yield* insertEntry(sql, endOfAccount(write, pseudonym, revoked));
      return Option.some(revoked);
    },
  );

  return (write: EndAccount) => Effect.andThen(endInSteps(write), endRest(write));
};
