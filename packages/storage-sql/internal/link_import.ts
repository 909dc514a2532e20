/**
 * Importing links: a few statements for a batch, whatever its size.
 */
import type { ImportBatch, LinkStore, Pid } from "@accountlink/core";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "./dialect.ts";
import { operation } from "./operation.ts";
import { schemaReaderOf } from "./row.ts";

/** The operations of an import. */
export const linkImports = (
  sql: SqlClient.SqlClient,
): Pick<LinkStore["Service"], "importBatch" | "importPosition"> => {
  const { rowsWritten } = dialectOf(sql);
  const { insertNew, replaceOld } = importStatements(sql);

  const importBatch = Effect.fnUntraced(function* ({ pid, links, existing, progress }: ImportBatch) {
    const lastLines = new Map(
      links.map(({ chatId, gameId, lastVerifiedAt }) => [chatId, [chatId, gameId, lastVerifiedAt]]),
    );
    const lines = JSON.stringify([...lastLines.values()]);

    const inserted = rowsWritten(yield* insertNew(pid, lines).raw);
    const old = lastLines.size - inserted;
    const replaced = existing === "keep" || old === 0 ? 0 : rowsWritten(yield* replaceOld(pid, lines).raw);
    if (progress !== null) {
      yield* sql`
        INSERT INTO import_progress (source, position) VALUES (${progress.source}, ${progress.position})
        ON CONFLICT (source) DO UPDATE SET position = excluded.position`;
    }
    return { inserted, replaced, kept: old - replaced };
  }, sql.withTransaction);

  return {
    importBatch: (batch) => importBatch(batch).pipe(operation("LinkStore.importBatch")),

    importPosition: (source) =>
      sql`SELECT position FROM import_progress WHERE source = ${source}`.pipe(
        Effect.flatMap(readPositions),
        Effect.map(([position = 0]) => position),
        operation("LinkStore.importPosition"),
      ),
  };
};

const readPositions = schemaReaderOf(
  "import_progress",
  Schema.Struct({ position: Schema.Int }),
  ({ position }) => position,
);

/** Both take lines as a JSON array of `[chatId, gameId, lastVerifiedAt]`, none of which name the same chat user. */
const importStatements = (sql: SqlClient.SqlClient) => {
  const { elements } = dialectOf(sql);
  const incoming = (lines: string) => sql`(
    SELECT value ->> 0 AS chat_id, value ->> 1 AS game_id, CAST(value ->> 2 AS BIGINT) AS verified_at
    FROM ${elements(lines)}) AS incoming`;
  return {
    /** Leaves alone who has a record. */
    insertNew: (pid: Pid, lines: string) => sql`
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
      SELECT ${pid}, chat_id, game_id, 1, verified_at, verified_at FROM ${incoming(lines)} WHERE true
      ON CONFLICT (pid, chat_id) DO NOTHING`,

    /** Leaves alone whose record says the same already, those just inserted among them. */
    replaceOld: (pid: Pid, lines: string) => sql`
      UPDATE links SET
        game_id = incoming.game_id,
        link_version = CASE WHEN links.game_id = incoming.game_id THEN link_version ELSE link_version + 1 END,
        linked_at = CASE WHEN links.game_id = incoming.game_id THEN linked_at ELSE verified_at END,
        last_verified_at = verified_at
      FROM ${incoming(lines)}
      WHERE links.pid = ${pid} AND links.chat_id = incoming.chat_id
        AND (links.game_id IS DISTINCT FROM incoming.game_id OR last_verified_at <> verified_at)`,
  };
};
