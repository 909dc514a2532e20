import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

export const links = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  // The column previous_game_id holds the game user that the last write replaced, because RETURNING sees only the new
  // values of a row.
  yield* sql`
    CREATE TABLE links (
      pid ${text} NOT NULL REFERENCES scopes (pid),
      chat_id ${text} NOT NULL,
      game_id ${text},
      previous_game_id ${text},
      link_version ${integer} NOT NULL,
      linked_at ${integer} NOT NULL,
      last_verified_at ${integer} NOT NULL,
      PRIMARY KEY (pid, chat_id)
    ) ${tableByKey}`;
  yield* sql`
    CREATE INDEX links_by_game ON links (pid, game_id, linked_at DESC, chat_id) WHERE game_id IS NOT NULL`;
  // The index contains game_id so that SQLite can count links without reading the table.
  yield* sql`
    CREATE INDEX links_by_verification ON links (pid, last_verified_at DESC, chat_id, game_id)
    WHERE game_id IS NOT NULL`;

  yield* sql`
    CREATE TABLE import_progress (
      source ${text} NOT NULL PRIMARY KEY,
      position ${integer} NOT NULL,
      saved_at ${integer}
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX import_progress_by_age ON import_progress (saved_at)`;
});
