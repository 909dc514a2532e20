import type { PlanPlace } from "@accountlink/core/roles";
import type { SqlClient } from "effect/sql";

export const isPlan = (sql: SqlClient.SqlClient, { pid, guildId }: PlanPlace) =>
  sql`pid = ${pid} AND guild_id = ${guildId}`;
