import type { SqlClient, Statement } from "effect/sql";

/** The conflict clause of a link: how it changes versions and times of an existing record. */
export const relinkOf = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.literal(`DO UPDATE SET
    previous_game_id = links.game_id,
    game_id = excluded.game_id,
    link_version = links.link_version + CASE WHEN links.game_id = excluded.game_id THEN 0 ELSE 1 END,
    linked_at = CASE WHEN links.game_id = excluded.game_id THEN links.linked_at ELSE excluded.linked_at END,
    last_verified_at = excluded.last_verified_at`);
