/**
 * The schema of the first release. It is step 48 because it takes the place of 47 steps that were never released: a
 * database that has all of them and step 48 has the same schema. Indexes are named after what they find. `links` and its
 * index begin with `pid`, so that the table can be partitioned by scope.
 */
import { schemaBehind } from "@accountlink/core";
import { Effect } from "effect";
import { SqlClient, SqlError } from "effect/sql";
import { guilds, logs, roles } from "./guild_tables.ts";
import { accounts, links, sightings, verification } from "./link_tables.ts";
import { placeUserTriggers } from "./place_user_triggers.ts";
import { journal, requests, service, webhooks } from "./service_tables.ts";

/** The number of this step. */
export const firstStep = 48;

/**
 * How to upgrade a database that lacks some of the steps before the first release; null if this release upgrades it.
 *
 * @param version the number of the last step that ran on it, 0 for a new database
 * @internal
 */
export const upgradeThrough = (version: number): string | null =>
  version === 0 || version >= firstStep ? null : schemaBehind({ version, known: firstStep });

export const initial = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  // The migrator has recorded the pending steps already.
  const [last] = yield* sql<{
    readonly version: number | null;
  }>`SELECT MAX(migration_id) AS version FROM schema_migrations WHERE migration_id < ${firstStep}`;
  const message = upgradeThrough(last?.version ?? 0);
  if (message !== null) {
    return yield* new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) });
  }
  const tables = [accounts, links, journal, verification, sightings, placeUserTriggers, requests];
  yield* Effect.all([...tables, webhooks, guilds, roles, logs, service], { discard: true });
});
