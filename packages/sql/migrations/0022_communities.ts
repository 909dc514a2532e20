/** Gives communities a record of their own: what role plans and the table of panels held before. */
import { groupBy } from "@accountlink/core/group_by";
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { changeSchema } from "./change_schema.ts";

const table = changeSchema(`
  -- home_since is when linking was last turned on, null if it never was. paused_at is null unless the rules are paused;
  -- paused_why is why the service paused them, paused_by the chat ID of a member or the ID of a key. settings is a JSON
  -- object, panels a JSON list with the last panel of each channel.
  CREATE TABLE communities (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, home_since INTEGER, paused_at INTEGER,
    paused_why TEXT, paused_by_type TEXT, paused_by TEXT, settings TEXT NOT NULL, panels TEXT NOT NULL,
    PRIMARY KEY (pid, guild_id)
  );
  CREATE INDEX communities_by_home ON communities (guild_id, home_since) WHERE home_since IS NOT NULL;
  CREATE INDEX communities_by_member ON communities (paused_by) WHERE paused_by IS NOT NULL
`);

/** Nobody knows who paused a plan. A plan that is on was turned on before its last sweep began. */
const fromPlans = changeSchema(`
  INSERT INTO communities (pid, guild_id, home_since, paused_at, settings, panels)
  SELECT pid, guild_id,
    CASE state WHEN 'on' THEN COALESCE(sweep_started_at, 0) ELSE paused_at END,
    CASE state WHEN 'on' THEN NULL ELSE paused_at END,
    CASE WHEN log_channel_id IS NULL THEN '{}' ELSE '{"logChannelId":"' || log_channel_id || '"}' END, '[]'
  FROM role_plans
`);

interface EarlierPanel {
  readonly pid: string;
  readonly guild_id: string;
  readonly channel_id: string;
  readonly message_id: string;
}

/** The texts of panels were not stored. */
const fromPanels = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const stored = yield* sql<EarlierPanel>`SELECT pid, guild_id, channel_id, message_id FROM panels`;
  const byPlace = groupBy(stored, ({ pid, guild_id }) => `${pid} ${guild_id}`);
  for (const ofPlace of byPlace.values()) {
    const { pid, guild_id } = ofPlace[0] as EarlierPanel;
    const panels = ofPlace.map(({ channel_id: channelId, message_id: messageId }) => ({
      channelId,
      messageId,
      text: null,
    }));
    yield* sql`
      INSERT INTO communities (pid, guild_id, settings, panels)
      VALUES (${pid}, ${guild_id}, '{}', ${JSON.stringify(panels)})
      ON CONFLICT (pid, guild_id) DO UPDATE SET panels = excluded.panels`;
  }
});

export const communities = Effect.all([table, fromPlans, fromPanels], { discard: true });
