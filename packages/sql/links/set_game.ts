/**
 * Implements `LinkStore.setGame`.
 *
 * On Postgres, one statement writes the link and its record in the journal, and commits by itself, so a write takes one
 * round trip, unless a member gives a reason. Only that statement knows the game that the link had before, so SQL makes
 * the JSON of the record, which is kept under an idempotency key too. On SQLite, it runs in one step, see `link_steps.ts`.
 */
import { newEventId } from "@accountlink/core/events";
import { linkSet } from "@accountlink/core/journal";
import { type GameSet, type KeptSet, keptSet, type SetGame } from "@accountlink/core/links";
import { Array as Arr, Effect, Option } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { insertRecord } from "../journal/records.ts";
import { insertRequest, isTakenKey, keyedStepOn } from "../statements/keyed_write.ts";
import { literalSql } from "../statements/row.ts";
import type { Ending, StoreParts } from "../statements/store_operation.ts";
import { admissionOn } from "./admitted_links.ts";
import { readSets, recordColumns } from "./link_lookups.ts";
import { linkStatements, relinkOf } from "./link_statements.ts";
import { linkSteps } from "./link_steps.ts";

export const setGameOn = (parts: StoreParts) => {
  const { sql, operation, isRemote } = parts;
  const whole = keyedStepOn(parts)("setGame", keptSet, linkSteps(sql).set, setInTransaction(sql));
  if (!isRemote) return whole;
  const statement = statementOn(parts);
  const atOnce = operation("setGame", (write: SetGame) =>
    Effect.map(readSets(statement(write)), Arr.head).pipe(
      Effect.catchIf(isTakenKey, () => Effect.succeedNone),
    ),
  );
  return (write: SetGame) =>
    (write.reason ?? null) !== null
      ? whole(write)
      : Effect.flatMap(atOnce(write), (set) =>
          // The key is taken, or a request had it whose time is over, or the scope has had a block or allows one chat user.
          Option.isSome(set) ? Effect.succeed(set.value) : whole(write),
        );
};

const setInTransaction = (sql: SqlClient.SqlClient) => {
  const { link } = linkStatements(sql);
  const { lock, refuse } = admissionOn(sql);
  return function* (write: SetGame): Effect.fn.Return<GameSet, Ending> {
    const { pid, chatId, gameId, at } = write;
    yield* refuse(yield* lock(pid), write);
    const [set] = yield* readSets(link({ pid, chatId, gameId, at, proof: "hand", existing: relinkOf(sql) }));
    if (set === undefined) return yield* Effect.die(new Error(`Cannot set a link: no scope "${pid}"`));
    if (set.previousGameId !== gameId) yield* insertRecord(sql, pid, linkSet(write, set));
    return set;
  };
};

/** The details of the record, and the kept outcome, by the SQL of their fields. */
const setFields = {
  chatId: "chat_id",
  gameId: "game_id",
  previousGameId: "previous_game_id",
} satisfies Record<keyof KeptSet, string>;

/** A JSON object as text. `fields` has the SQL of each value, by the name of the field. */
const jsonObject = (fields: Readonly<Record<string, string>>) => {
  const pairs = Object.entries(fields).map(([name, value]) => `'${name}', ${value}`);
  return literalSql(`json_build_object(${pairs.join(", ")})::text`);
};

const statementOn = ({ sql, usersInUse }: StoreParts) => {
  // Lock the users of an idempotent write and the scope before the record, like an erasure and a deletion of the scope.
  // FOR SHARE waits for a first block or a change of the setting, which changes the scope, and then reads the scope anew.
  const scopeOf = (pid: string, users: Statement.Fragment) =>
    sql`FROM scopes, ${users} WHERE pid = ${pid} AND locks >= 0 AND has_blocks = 0 AND one_chat_user = 0 FOR SHARE OF scopes`;
  const kept = sql`'{"result":' || ${jsonObject(setFields)} || '}'`;
  const keyOf = (request: SetGame["once"]) =>
    request === undefined
      ? sql.literal("")
      : sql`, kept AS (${insertRequest(sql, request, kept, sql`FROM written`)})`;

  return ({ pid, chatId, gameId, at, actor, requestId, once }: SetGame) => sql`
    WITH written AS (
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at, proof)
      SELECT pid, ${chatId}, ${gameId}, 1, ${at}, ${at}, 'hand'
      ${scopeOf(pid, usersInUse(once?.chatIds ?? []))}
      ON CONFLICT (pid, chat_id) ${relinkOf(sql)}
      RETURNING pid, ${recordColumns}, previous_game_id
    ), record AS (
      INSERT INTO journal (place, event_id, at, action, actor_type, actor_id, member, request_id, details, fields, chat_id)
      SELECT pid, ${newEventId(at)}, ${at}, 'link.set', ${actor.type}, ${actor.id},
        ${actor.type === "account" ? actor.member : null}, ${requestId}, ${jsonObject(setFields)},
        ${jsonObject({ linkVersion: "link_version" })}, chat_id
      FROM written WHERE previous_game_id IS DISTINCT FROM game_id
    ) ${keyOf(once)}
    SELECT ${recordColumns}, previous_game_id FROM written`;
};
