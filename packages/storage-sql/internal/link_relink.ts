/** What a link makes of a record that is there: the rule of versions and times, in its one place. */
import type { SqlClient, Statement } from "effect/sql";

/** After `ON CONFLICT (pid, chat_id)` of an INSERT of a link. The same game again only confirms. */
export const relinkOf = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.literal(`DO UPDATE SET
    previous_game_id = links.game_id,
    game_id = excluded.game_id,
    link_version = links.link_version + CASE WHEN links.game_id = excluded.game_id THEN 0 ELSE 1 END,
    linked_at = CASE WHEN links.game_id = excluded.game_id THEN links.linked_at ELSE excluded.linked_at END,
    last_verified_at = excluded.last_verified_at`);
