import type { CommunityPlace } from "@accountlink/core/communities";
import { ReminderStore, reminderPause } from "@accountlink/core/reminders";
import { Effect, Schema } from "effect";
import { tableOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";
import { readCommunities, selectIn } from "./community_store.ts";

const readReminders = tableOf("reminders", { hash: Schema.String, at: Schema.Int }).reader();

export const layer = storeLayer(ReminderStore)(({ sql, operation, transaction, isAmong, onlyOne }) => {
  const inGuild = ({ guildId }: CommunityPlace) => sql`guild_id = ${guildId}`;

  return {
    communities: operation("communities", () =>
      Effect.map(
        readCommunities(sql`
          ${selectIn(sql)} JOIN accounts ON accounts.name = scopes.account
          WHERE home_since IS NOT NULL AND paused_at IS NULL AND accounts.status = 'active'
            AND communities.settings LIKE '%"remindAfterDays":%'
          ORDER BY communities.pid, communities.guild_id`),
        (found) => found.filter(({ remindAfterDays }) => remindAfterDays !== null),
      ),
    ),

    claim: transaction("claim", function* ({ hash, at, ...place }) {
      // The lock lets claims of a guild run one after the other.
      yield* sql`SELECT locks FROM ${onlyOne(`reminders of guild ${place.guildId}`)}`;
      const known = yield* readReminders(sql`
        SELECT hash, at FROM reminders WHERE ${inGuild(place)} AND hash = ${hash}`);
      if (known.length > 0) return "reminded";
      const last = yield* readReminders(sql`
        SELECT hash, at FROM reminders WHERE ${inGuild(place)} AND at > ${at - reminderPause} LIMIT 1`);
      if (last.length > 0) return "early";
      yield* sql`INSERT INTO reminders ${sql.insert({ pid: place.pid, guild_id: place.guildId, hash, at })}`;
      return "claimed";
    }),

    release: operation("release", (place, hash) =>
      Effect.asVoid(sql`DELETE FROM reminders WHERE ${inGuild(place)} AND hash = ${hash}`),
    ),

    reminded: operation("reminded", (place, hashes) =>
      Effect.map(
        readReminders(sql`
          SELECT hash, at FROM reminders WHERE ${inGuild(place)} AND hash ${isAmong(JSON.stringify(hashes))}`),
        (found) => new Map(found.map(({ hash, at }) => [hash, at])),
      ),
    ),
  };
});
