/**
 * On Postgres, lets nodes of the release before the journal go on while others are replaced: their two tables are views of
 * it, and triggers put what they write into it. A later migration drops the views.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";

const jsonOf = (fields: Readonly<Record<string, string>>): string =>
  `json_build_object(${Object.entries({ ...fields, linkVersion: "fields::json -> 'linkVersion'" })
    .map(([name, value]) => `'${name}', ${value}`)
    .join(", ")}, 'source', CASE WHEN details::json ->> 'proof' IS NOT NULL THEN 'flow' ELSE
      CASE actor_type WHEN 'key' THEN 'api' WHEN 'account' THEN 'dashboard' ELSE actor_type END END)::text`;

const detail = (name: string): string => `details::json -> '${name}'`;

const data = `
  CASE CASE WHEN actor_type IS NULL THEN '' ELSE action END
    WHEN 'link.set' THEN ${jsonOf({
      chatId: detail("chatId"),
      gameId: detail("gameId"),
      previousGameId: detail("previousGameId"),
      lastVerifiedAt: "at",
    })}
    WHEN 'link.moved' THEN ${jsonOf({
      chatId: detail("newChatId"),
      previousChatId: detail("chatId"),
      gameId: detail("gameId"),
      lastVerifiedAt: "at",
    })}
    WHEN 'link.removed' THEN ${jsonOf({
      chatId: detail("chatId"),
      gameId: "NULL::text",
      previousGameId: detail("removedGameId"),
    })}
    ELSE fields
  END`;

const isAccount = "place LIKE 'account %'";

/** A user of an event. No index finds erased users, nor the event of an erasure. */
export const userOf = (type: string, user: string): string =>
  `CASE WHEN ${type} = 'user.erased' OR ${user} = '[erased]' THEN NULL ELSE ${user} END`;

const userIn = (field: string): string => userOf("NEW.type", `NEW.data::json ->> '${field}'`);

const triggerOn = (view: string, operation: string, name: string): string =>
  `CREATE TRIGGER ${name} INSTEAD OF ${operation} ON ${view} FOR EACH ROW EXECUTE FUNCTION ${name}()`;

const statements = [
  `CREATE VIEW events AS
    SELECT sequence, place AS pid, position, event_id AS id, at, ${data} AS data,
      CASE action WHEN 'links.import_undone' THEN 'links.imported' ELSE action END AS type
    FROM journal
    WHERE event_id IS NOT NULL
      AND (position IS NULL OR position > COALESCE((SELECT f.position FROM feed_starts f WHERE f.pid = place), 0))`,
  `CREATE VIEW audit_log AS
    SELECT sequence, at, actor_type, actor_id, member, request_id, action, details, chat_id, other_chat_id,
      CASE WHEN ${isAccount} THEN substr(place, 9) ELSE (SELECT s.account FROM scopes s WHERE s.pid = place) END
        AS account,
      CASE WHEN NOT ${isAccount} THEN place END AS pid
    FROM journal WHERE actor_type IS NOT NULL`,
  `CREATE FUNCTION earlier_event_inserted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO journal (place, event_id, at, action, details, fields, chat_id, other_chat_id)
    VALUES (NEW.pid, NEW.id, NEW.at, NEW.type, '{}', NEW.data, ${userIn("chatId")}, ${userIn("previousChatId")})
    RETURNING sequence INTO NEW.sequence;
    RETURN NEW;
  END $$`,
  // The data of an event with an entry follow from the entry, which an erasure changes as well.
  `CREATE FUNCTION earlier_event_updated() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE journal SET position = GREATEST(NEW.position, sequence),
      fields = CASE WHEN actor_type IS NULL OR action = 'user.erased' THEN NEW.data ELSE fields END
    WHERE place = OLD.pid AND sequence = OLD.sequence;
    RETURN NEW;
  END $$`,
  `CREATE FUNCTION earlier_entry_inserted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO journal
      (place, at, action, actor_type, actor_id, member, request_id, details, chat_id, other_chat_id)
    VALUES (COALESCE(NEW.pid, 'account ' || NEW.account), NEW.at, NEW.action, NEW.actor_type, NEW.actor_id, NEW.member,
      NEW.request_id, NEW.details, NEW.chat_id, NEW.other_chat_id)
    RETURNING sequence INTO NEW.sequence;
    RETURN NEW;
  END $$`,
  `CREATE FUNCTION earlier_entry_updated() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE journal SET place = COALESCE(OLD.pid, 'account ' || NEW.account), actor_id = NEW.actor_id,
      member = NEW.member, details = NEW.details, chat_id = NEW.chat_id, other_chat_id = NEW.other_chat_id
    WHERE place = COALESCE(OLD.pid, 'account ' || OLD.account) AND sequence = OLD.sequence;
    RETURN NEW;
  END $$`,
  triggerOn("events", "INSERT", "earlier_event_inserted"),
  triggerOn("events", "UPDATE", "earlier_event_updated"),
  triggerOn("audit_log", "INSERT", "earlier_entry_inserted"),
  triggerOn("audit_log", "UPDATE", "earlier_entry_updated"),
];

/** The views take the names of the tables, which have to be gone. */
export const viewsForEarlierNodes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true });
});
