/** Tables of alt detection: who was seen where, the number of users per place, and reviews of user pairs. */
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

export const alts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  // A place is an address or a browser. Browsers have no sealed_address and no address_key_id.
  yield* sql`
    CREATE TABLE sightings (
      pid ${text} NOT NULL REFERENCES scopes (pid),
      chat_id ${text} NOT NULL,
      place_hash ${text} NOT NULL,
      sealed_address ${text},
      address_key_id ${text},
      seen_at ${integer} NOT NULL,
      PRIMARY KEY (pid, chat_id, place_hash)
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX sightings_by_age ON sightings (seen_at)`;
  yield* sql`CREATE INDEX sightings_by_place ON sightings (pid, place_hash, seen_at DESC, chat_id)`;

  // The number of users per place. Triggers update it, so that reading the number is fast even if 100,000 people share
  // an address.
  yield* sql`
    CREATE TABLE place_users (
      pid ${text} NOT NULL,
      place_hash ${text} NOT NULL,
      users ${integer} NOT NULL,
      PRIMARY KEY (pid, place_hash)
    ) ${tableByKey}`;
  yield* sql.onDialectOrElse({
    pg: () => postgresTriggers(sql),
    orElse: () => sqliteTriggers(sql),
  });

  // Pairs are unordered: the smaller chat ID comes first.
  yield* sql`
    CREATE TABLE alt_reviews (
      pid ${text} NOT NULL REFERENCES scopes (pid),
      chat_id ${text} NOT NULL,
      other_chat_id ${text} NOT NULL,
      verdict ${text} NOT NULL,
      note ${text},
      reviewed_at ${integer} NOT NULL,
      key_id ${text},
      PRIMARY KEY (pid, chat_id, other_chat_id)
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX alt_reviews_by_other ON alt_reviews (pid, other_chat_id)`;
});

const sqliteTriggers = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`
    CREATE TRIGGER sightings_added AFTER INSERT ON sightings BEGIN
      INSERT INTO place_users (pid, place_hash, users) VALUES (NEW.pid, NEW.place_hash, 1)
      ON CONFLICT (pid, place_hash) DO UPDATE SET users = users + 1;
    END`;
  yield* sql`
    CREATE TRIGGER sightings_removed AFTER DELETE ON sightings BEGIN
      UPDATE place_users SET users = users - 1
      WHERE pid = OLD.pid AND place_hash = OLD.place_hash;
      DELETE FROM place_users
      WHERE pid = OLD.pid AND place_hash = OLD.place_hash AND users = 0;
    END`;
});

/**
 * Each trigger runs once per statement. It updates the rows of `place_users` in sorted order, so that two statements
 * never deadlock.
 */
const postgresTriggers = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`
    CREATE FUNCTION count_added_sightings() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO place_users (pid, place_hash, users)
      SELECT pid, place_hash, COUNT(*) FROM added
      GROUP BY pid, place_hash ORDER BY pid, place_hash
      ON CONFLICT (pid, place_hash) DO UPDATE SET users = place_users.users + excluded.users;
      RETURN NULL;
    END $$`;
  yield* sql`
    CREATE TRIGGER sightings_added AFTER INSERT ON sightings REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_added_sightings()`;
  yield* sql`
    CREATE FUNCTION count_removed_sightings() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE gone RECORD;
    BEGIN
      FOR gone IN SELECT pid, place_hash, COUNT(*) AS users FROM removed
        GROUP BY pid, place_hash ORDER BY pid, place_hash
      LOOP
        UPDATE place_users AS place SET users = place.users - gone.users
        WHERE place.pid = gone.pid AND place.place_hash = gone.place_hash;
        DELETE FROM place_users AS place
        WHERE place.pid = gone.pid AND place.place_hash = gone.place_hash AND place.users = 0;
      END LOOP;
      RETURN NULL;
    END $$`;
  yield* sql`
    CREATE TRIGGER sightings_removed AFTER DELETE ON sightings REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION count_removed_sightings()`;
});
