import { linkRemoved } from "@accountlink/core/journal";
import type { GameUnlinked, RemoveGame } from "@accountlink/core/links";
import { type EndingVerifications, endVerifications } from "@accountlink/core/storage";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { insertRecord } from "../journal/records.ts";
import { withTx } from "../records.ts";
import { readUnlinked } from "./link_lookups.ts";
import { linkStatements } from "./link_statements.ts";

/** Makes a function that removes a link in a transaction, and ends verifications. It returns null if there is no link. */
export const linkRemovalOn = (sql: SqlClient.SqlClient) => {
  const { unlink } = linkStatements(sql);
  return Effect.fnUntraced(function* (write: RemoveGame & Pick<EndingVerifications, "spares">) {
    const { pid, chatId, at } = write;
    const [unlinked] = yield* readUnlinked(unlink(pid, chatId, at));
    if (unlinked === undefined) return null;
    const { removedGameId: gameId, linkVersion } = unlinked;
    const ended = yield* withTx(sql, (tx) => endVerifications(tx, write), true);
    yield* insertRecord(sql, pid, linkRemoved(write, chatId, gameId, linkVersion));
    return { gameId, ended } satisfies GameUnlinked;
  });
};
