import { type ChatId, GuildId, Pid } from "@accountlink/core";
import {
  type Community,
  type CommunityPlace,
  CommunitySettings,
  CommunityStore,
  changedIn,
  isKnown,
  type Linking,
  newCommunity,
  nothingChosen,
  type Pause,
  type PausedBy,
  panelDetails,
  pauseReasons,
  settingDetails,
  settingsOf,
  type UserPause,
  withPanel,
} from "@accountlink/core/communities";
import { followLog, logIdOf } from "@accountlink/core/guild_log";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect, Option, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { insertEntry } from "../journal/records.ts";
import { communityFields, withCommunityScope } from "../keys/accounts.ts";
import { withTx } from "../records.ts";
import { dialectOf } from "../statements/dialect.ts";
import {
  literalSql,
  literalsOf,
  OptionalInt,
  OptionalText,
  tableOf,
  type ValuesOf,
} from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";

export const layer = storeLayer(CommunityStore)((parts) => {
  const { sql, operation, transaction } = parts;
  const communities = selectIn(sql);

  return {
    find: operation("find", (place) =>
      Effect.map(readCommunities(sql`${communities} WHERE ${isPlace(sql, place)}`), ([found]) =>
        Option.filter(Option.fromUndefinedOr(found), isKnown),
      ),
    ),

    findHome: operation("findHome", (guildId) =>
      Effect.map(
        readCommunities(sql`
          ${communities} JOIN accounts ON accounts.name = scopes.account
          WHERE communities.guild_id = ${guildId} AND home_since IS NOT NULL AND accounts.status = 'active'
          ORDER BY CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END, home_since DESC, communities.pid LIMIT 1`),
        Arr.head,
      ),
    ),

    list: operation("list", (pid) =>
      Effect.map(
        readCommunities(sql`${communities} WHERE communities.pid = ${pid} ORDER BY communities.guild_id`),
        Arr.filter(isKnown),
      ),
    ),

    reminding: operation("reminding", () =>
      Effect.map(
        readCommunities(sql`
          ${communities} JOIN accounts ON accounts.name = scopes.account
          WHERE home_since IS NOT NULL AND paused_at IS NULL AND accounts.status = 'active'
            AND communities.settings LIKE '%"remindAfterDays":%'
          ORDER BY communities.pid, communities.guild_id`),
        (found) => found.filter(({ remindAfterDays }) => remindAfterDays !== null),
      ),
    ),

    pausedBy: operation("pausedBy", (chatId) =>
      readPauses(sql`
        SELECT pid, guild_id, paused_at AS at FROM communities
        WHERE paused_by = ${chatId} AND paused_by_type = 'account' ORDER BY pid, guild_id`),
    ),

    update: transaction("update", function* ({ pid, guildId, actor, requestId, at, update, position }) {
      assertStorable(Object.values(update).filter((value) => typeof value === "string"));
      const before = yield* lockCommunity(sql, { pid, guildId });
      if (changedIn(before, update).length === 0) return;
      yield* putSettings(sql, { pid, guildId }, before, update, position);
      const details = settingDetails(before, update);
      yield* insertEntry(sql, { actor, requestId, at, pid, action: "roles.updated", details });
    }),

    savePanel: transaction("savePanel", function* ({ panel, guildId, ...write }) {
      assertStorable([panel.channelId, panel.messageId ?? "", panel.text ?? ""]);
      const place = { pid: write.pid, guildId };
      const { panels } = yield* lockCommunity(sql, place);
      const details = panelDetails(guildId, panels, panel);
      if (details === null) return;
      yield* sql`
        UPDATE communities SET panels = ${JSON.stringify(withPanel(panels, panel))} WHERE ${isPlace(sql, place)}`;
      yield* insertEntry(sql, { ...write, action: "panel.posted", details });
    }),
  };
});

const selectIn = (sql: SqlClient.SqlClient) =>
  sql`SELECT ${columns} FROM communities JOIN scopes ON scopes.pid = communities.pid`;

const isPlace = (sql: SqlClient.SqlClient, { pid, guildId }: CommunityPlace) =>
  sql`communities.pid = ${pid} AND communities.guild_id = ${guildId}`;

/** Reads a community and locks its row, which is made if nothing was chosen yet. */
export const lockCommunity = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, place: CommunityPlace) {
  const { pid, guildId } = place;
  yield* sql`
    INSERT INTO communities (pid, guild_id, settings, panels)
    VALUES (${pid}, ${guildId}, ${JSON.stringify(nothingChosen)}, '[]') ON CONFLICT (pid, guild_id) DO NOTHING`;
  const [locked] = yield* readLocked(sql, place);
  return locked as Community;
});

const readLocked = (sql: SqlClient.SqlClient, place: CommunityPlace) =>
  readCommunities(
    sql`${selectIn(sql)} WHERE ${isPlace(sql, place)} ${dialectOf(sql).forUpdateOf("communities")}`,
  );

/** Stores whether linking is on, in the transaction that changes the plan. */
export const putLinking = (
  sql: SqlClient.SqlClient,
  place: CommunityPlace,
  { homeSince, paused }: Linking,
) => sql`
  UPDATE communities
  SET home_since = ${homeSince}, paused_at = ${paused?.at ?? null}, paused_why = ${paused?.why ?? null},
    paused_by_type = ${paused?.by?.type ?? null}, paused_by = ${paused?.by?.id ?? null}
  WHERE ${isPlace(sql, place)}`;

const putSettings = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  place: CommunityPlace,
  before: Community,
  update: Partial<CommunitySettings>,
  position: number,
) {
  const after = settingsOf({ ...before, ...update });
  yield* sql`UPDATE communities SET settings = ${JSON.stringify(after)} WHERE ${isPlace(sql, place)}`;
  const { logChannelId: channel } = after;
  yield* withTx(sql, (tx) => followLog(tx, place, before.logChannelId, channel, position), true);
  if (channel === null) yield* sql`DELETE FROM guild_log_entries WHERE log_id = ${logIdOf(place)}`;
});

/** Forgets that linking was on, and what was chosen. Returns whether anything was. */
export const closeCommunity = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, place: CommunityPlace) {
  const [before] = yield* readLocked(sql, place);
  if (before === undefined) return false;
  yield* putLinking(sql, place, newCommunity);
  yield* putSettings(sql, place, before, nothingChosen, 0);
  return isKnown({ ...before, panels: [] });
});

/** Takes an erased user out of the pauses of communities. */
export const forgetInCommunities = (sql: SqlClient.SqlClient, chatId: ChatId) =>
  sql`UPDATE communities SET paused_by = NULL WHERE paused_by = ${chatId} AND paused_by_type = 'account'`;

const Panels = Schema.Array(
  Schema.Struct({ channelId: Schema.String, messageId: Schema.String, text: OptionalText }),
);

const columns = literalSql(`
  communities.pid, scopes.account, scopes.guild_id AS scope_guild, communities.guild_id, communities.home_since,
  communities.paused_at, communities.paused_why, communities.paused_by_type, communities.paused_by,
  communities.settings, communities.panels`);

const pauseFields = {
  pausedAt: OptionalInt,
  pausedWhy: Schema.NullOr(Schema.Literals(pauseReasons)),
  pausedByType: Schema.NullOr(literalsOf<PausedBy["type"]>({ account: true, key: true, operator: true })),
  pausedBy: OptionalText,
};

const readCommunities = tableOf("communities", {
  ...communityFields,
  ...pauseFields,
  homeSince: OptionalInt,
  settings: Schema.fromJsonString(CommunitySettings),
  panels: Schema.fromJsonString(Panels),
}).reader(({ settings, pausedAt, pausedWhy, pausedByType, pausedBy, ...community }): Community => {
  const paused = pauseOf({ pausedAt, pausedWhy, pausedByType, pausedBy });
  return { ...settings, ...withCommunityScope(community), paused };
});

const pauseOf = ({
  pausedAt,
  pausedWhy,
  pausedByType,
  pausedBy,
}: ValuesOf<typeof pauseFields>): Pause | null =>
  pausedAt === null
    ? null
    : {
        at: pausedAt,
        why: pausedWhy,
        by: pausedByType === null ? null : { type: pausedByType, id: pausedBy },
      };

const readPauses = tableOf("communities", { pid: Pid, guildId: GuildId, at: Schema.Int }).reader(
  (pause): UserPause => pause,
);
