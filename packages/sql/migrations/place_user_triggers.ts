/** Triggers that count the users of each place in `place_users`. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";

export const placeUserTriggers = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.onDialectOrElse({ pg: () => postgresTriggers(sql), orElse: () => sqliteTriggers(sql) }),
);

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
