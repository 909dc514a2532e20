/**
 * Implements `LinkStore.setGame`.
 *
 * On Postgres, one statement writes the link, its audit entry and its event, and commits by itself, so a write takes one
 * round trip, unless a member gives a reason. Only that statement knows the game that the link had before, so SQL makes
 * the JSON of entry and event.
 */
import { withReason } from "@accountlink/core/audit";
import { type EventData, linkSet, newEventId, sourceOf } from "@accountlink/core/events";
import type { GameSet, GameUpdated, SetGame } from "@accountlink/core/links";
import { Array as Arr, Effect, Option } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { insertLinkEntry } from "../audit/audit_entry.ts";
import { insertRequest, isTakenKey, keyedWriteOn } from "../statements/keyed_write.ts";
import type { Ending, StoreParts } from "../statements/store_operation.ts";
import { refuseBlockedOn } from "./blocked_links.ts";
import { readSets, recordColumns } from "./link_lookups.ts";
import { linkStatements, relinkOf } from "./link_statements.ts";

export const setGameOn = (parts: StoreParts) => {
  const { sql, operation, isRemote } = parts;
  const inTransaction = keyedWriteOn(parts)("setGame", setInTransaction(sql));
  if (!isRemote) return inTransaction;
  const statement = statementOn(parts);
  const atOnce = operation("setGame", (write: SetGame) =>
    Effect.map(readSets(statement(write)), Arr.head).pipe(
      Effect.catchIf(isTakenKey, () => Effect.succeedNone),
    ),
  );
  return (write: SetGame) =>
    (write.reason ?? null) !== null
      ? inTransaction(write)
      : Effect.flatMap(atOnce(write), (set) =>
          // The key is taken, or a request had it whose time is over, or the scope has had a block.
          Option.isSome(set) ? Effect.succeed(set.value) : inTransaction(write),
        );
};

const setInTransaction = (sql: SqlClient.SqlClient) => {
  const { link } = linkStatements(sql);
  const refuseBlocked = refuseBlockedOn(sql);
  return function* (write: SetGame): Effect.fn.Return<GameSet, Ending> {
    const { pid, chatId, gameId, at, actor } = write;
    yield* refuseBlocked(write);
    const [set] = yield* readSets(link({ pid, chatId, gameId, at, proof: "hand", existing: relinkOf(sql) }));
    if (set === undefined) return yield* Effect.die(new Error(`Cannot set a link: no scope "${pid}"`));
    const { record, previousGameId } = set;
    if (previousGameId === gameId) return set;
    const event = linkSet({ ...record, gameId }, previousGameId, sourceOf(actor));
    const details = withReason({ chatId, gameId, previousGameId }, write);
    yield* insertLinkEntry(sql, write, "link.set", details, event);
    return set;
  };
};

/** The JSON object that one statement of Postgres stores for each purpose, by the SQL of its fields. */
const entryDetails = { chatId: "chat_id", gameId: "game_id", previousGameId: "previous_game_id" };

const eventData = (source: string) =>
  ({
    ...entryDetails,
    linkVersion: "link_version",
    lastVerifiedAt: "last_verified_at",
    source: `'${source}'`,
  }) satisfies Record<keyof EventData["link.set"], string>;

const resultFields = {
  ...entryDetails,
  updated: "previous_game_id IS DISTINCT FROM game_id",
} satisfies Record<keyof GameUpdated, string>;

const result = `json_build_object(${Object.entries(resultFields)
  .map(([name, value]) => `'${name}', ${value}`)
  .join(", ")})`;

const statementOn = ({ sql, jsonObject, usersInUse }: StoreParts) => {
  // Lock the users of an idempotent write and the scope before the record, like an erasure and a deletion of the scope.
  // FOR SHARE waits for a first block, which changes the scope, and then reads the scope anew.
  const scopeOf = (pid: string, users: Statement.Fragment) =>
    sql`FROM scopes, ${users} WHERE pid = ${pid} AND locks >= 0 AND has_blocks = 0 FOR SHARE OF scopes`;
  const keyOf = (request: SetGame["once"]) =>
    request === undefined
      ? sql.literal("")
      : sql`, kept AS (${insertRequest(sql, request, jsonObject({ result }), sql`FROM written`)})`;

  return ({ pid, chatId, gameId, at, actor, requestId, once }: SetGame) => sql`
    WITH written AS (
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at, proof)
      SELECT pid, ${chatId}, ${gameId}, 1, ${at}, ${at}, 'hand'
      ${scopeOf(pid, usersInUse(JSON.stringify(once?.chatIds ?? [])))}
      ON CONFLICT (pid, chat_id) ${relinkOf(sql)}
      RETURNING pid, ${recordColumns}, previous_game_id
    ), changed AS (
      SELECT account, written.* FROM written, scopes
      WHERE scopes.pid = ${pid} AND previous_game_id IS DISTINCT FROM game_id
    ), event AS (
      INSERT INTO events (pid, id, type, at, data)
      SELECT pid, ${newEventId(at)}, 'link.set', ${at}, ${jsonObject(eventData(sourceOf(actor)))} FROM changed
    ), entry AS (
      INSERT INTO audit_log (at, account, pid, actor_type, actor_id, request_id, action, details, chat_id, member)
      SELECT ${at}, account, pid, ${actor.type}, ${actor.id}, ${requestId}, 'link.set', ${jsonObject(entryDetails)},
        chat_id, ${actor.type === "account" ? actor.member : null}
      FROM changed
    ) ${keyOf(once)}
    SELECT ${recordColumns}, previous_game_id FROM written`;
};
