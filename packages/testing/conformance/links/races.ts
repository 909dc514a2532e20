import {
  ChatId,
  type Conflict,
  GameId,
  type Pid,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { ImportStore } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { type ChatMoved, LinkStore } from "@accountlink/core/links";
import { Effect, Option, Result } from "effect";
import { uniqueText } from "../../mod.ts";
import { expectEqual, pluck } from "../expect.ts";
import { ada, atOnce, bob, chess, cyd, dan, origin, poker, rummy } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newVerificationSteps } from "../verification_steps.ts";
import { line, newLinkSteps } from "./link_steps.ts";

const games = Array.from({ length: 40 }, (_, i) => GameId.make(`${1_000 + i}`));
const crowd = Array.from({ length: 20 }, (_, i) => ChatId.make(`${50_000 + i}`));
const rounds = Array.from({ length: 20 }, (_, i) => i);
const sorted = (texts: Iterable<unknown>): ReadonlyArray<string> => Array.from(texts, String).toSorted();

export const allowOne = (pid: Pid, oneChatUser = true) =>
  Effect.flatMap(KeyStore, (keys) => keys.updateSettings({ ...origin, pid, update: { oneChatUser }, at: 0 }));

const admitted = <A>(write: Effect.Effect<A, Conflict | StoreUnavailable>) =>
  Effect.catchTag(write, "Conflict", () => Effect.succeed(null));

const countOf = (moves: ReadonlyArray<ChatMoved>, tag: ChatMoved["_tag"]): number =>
  moves.filter(({ _tag }) => _tag === tag).length;

export const races: Cases<StoragePorts> = {
  "concurrent setGame on one chat user: versions and previous games form one chain": function* () {
    const links = yield* newLinkSteps;
    const sets = yield* Effect.forEach(games, (gameId) => links.set(ada, gameId), atOnce);
    const ordered = sets.toSorted((one, other) => one.record.linkVersion - other.record.linkVersion);
    expectEqual(
      ordered.map(({ record }) => record.linkVersion),
      games.map((_, i) => i + 1),
    );
    expectEqual(pluck(ordered, "previousGameId"), [
      null,
      ...ordered.slice(0, -1).map(({ record }) => record.gameId),
    ]);
    expectEqual(yield* links.find(ada), ordered.at(-1)?.record ?? null);
  },

  "concurrent setGame with one game: one creates the link, the others confirm it": function* () {
    const links = yield* newLinkSteps;
    const sets = yield* Effect.forEach(games, () => links.set(ada, chess), atOnce);
    expectEqual(sets.filter(({ previousGameId }) => previousGameId === null).length, 1);
    expectEqual((yield* links.entries).length, 1);
    expectEqual((yield* links.find(ada))?.linkVersion, 1);
  },

  "a scope that allows one chat user refuses a second one, also of several at once": function* () {
    const links = yield* newLinkSteps;
    yield* allowOne(links.pid);
    const set = (chatId: ChatId) => Effect.result(links.set(chatId, chess));
    const made = yield* Effect.forEach(crowd, set, atOnce);
    const refused = made.filter(Result.isFailure).map(({ failure }) => failure);
    expectEqual(
      refused.map((error) => ("reason" in error ? error.reason : error._tag)),
      crowd.slice(1).map(() => "game_taken" as const),
    );
    const [holder] = yield* Effect.map(links.chatsOf(chess), (found) => found.get(chess) ?? []);
    expectEqual((yield* links.set(holder as ChatId, chess)).previousGameId, chess);
    expectEqual((yield* links.move(holder as ChatId, ada))._tag, "Moved");
    yield* allowOne(links.pid, false);
    expectEqual((yield* links.set(bob, chess)).previousGameId, null);
    expectEqual(sorted((yield* links.chatsOf(chess)).get(chess) ?? []), sorted([ada, bob]));
    yield* allowOne(links.pid);
    expectEqual((yield* links.set(bob, chess)).previousGameId, chess, "The game of a link that is there");
    const lines = [line(cyd, chess), line(bob, chess), line(ada, chess)];
    expectEqual(yield* links.load(lines), { inserted: 0, replaced: 0, unchanged: 2, kept: 1 });
    expectEqual(Result.isFailure(yield* set(cyd)), true);
  },

  "a scope that allows one chat user has one after a link, imports, an undo, a move and a completion at once":
    function* () {
      const { pid, links, proven, complete } = yield* newVerificationSteps;
      const { restoreGame } = yield* LinkStore;
      const { importBatch, undo } = yield* ImportStore;
      yield* allowOne(pid);
      const write = { ...origin, pid, at: 3 };
      const batch = { ...write, existing: "replace", proof: "import", progress: null } as const;
      for (const [round, gameId] of games.entries()) {
        const [removed, moved, mover, target, fresh] = [0, 1, 2, 3, 4].map((index) =>
          ChatId.make(`${60_000 + 10 * round + index}`),
        ) as [ChatId, ChatId, ChatId, ChatId, ChatId];
        yield* links.set(removed, gameId);
        yield* links.remove(removed, 2);
        yield* links.set(moved, gameId);
        const [file, other] = [
          { id: uniqueText(), name: "users.csv", isUndoable: true },
          GameId.make(`2${gameId}`),
        ];
        yield* importBatch({ ...batch, links: [line(moved, other, 2)], file });
        const flow = yield* proven(null, fresh, gameId);
        const load = (...chatIds: ReadonlyArray<ChatId>) =>
          importBatch({ ...batch, links: chatIds.map((chatId) => line(chatId, gameId, 3)) });
        const writes: ReadonlyArray<Effect.Effect<unknown, Conflict | StoreUnavailable>> = [
          links.set(ada, gameId),
          load(bob, cyd),
          undo({ ...write, id: file.id, limit: 10 }),
          restoreGame({ ...write, chatId: removed, gameId, removedAt: 2 }),
          complete(flow, { chatId: fresh, gameId, moves: round % 2 === 0 }),
          load(dan),
          Effect.andThen(links.set(mover, gameId), links.move(mover, target)),
        ];
        const turn = round % writes.length;
        yield* Effect.forEach([...writes.slice(turn), ...writes.slice(0, turn)], admitted, atOnce);
        const [holder, ...rest] = (yield* links.chatsOf(gameId)).get(gameId) ?? [];
        expectEqual(rest, [], `Chat users beside ${holder} in round ${round}`);
        expectEqual(holder !== undefined, true, `Whether round ${round} made a link`);
      }
    },

  "concurrent setGame, moveChat and removeGame on one chat user form one chain": function* () {
    const links = yield* newLinkSteps;
    const targets = games.map((gameId) => ChatId.make(`6${gameId}`));
    const changes = yield* Effect.forEach(
      games.flatMap((gameId, i) => [
        Effect.map(links.set(ada, gameId), ({ previousGameId }) => [previousGameId, gameId]),
        Effect.map(links.remove(ada), (removed) => [Option.getOrNull(removed), null]),
        Effect.map(links.move(ada, targets[i] as ChatId), (moved) => [
          moved._tag === "Moved" ? moved.gameId : null,
          null,
        ]),
      ]),
      (write) => write,
      atOnce,
    );
    const made = changes.filter(([from, to]) => from !== to);
    const record = yield* links.find(ada);
    expectEqual(record?.linkVersion, made.length);
    expectEqual(
      sorted([...made.map(([from]) => from), record?.gameId ?? null]),
      sorted([null, ...made.map(([, to]) => to)]),
    );
    expectEqual(replay(yield* links.entries), record?.gameId ?? null, "The game after all entries");
  },

  "concurrent moveChat to one chat user: exactly one succeeds": function* () {
    const links = yield* newLinkSteps;
    yield* links.load(crowd.map((chatId) => line(chatId, chess)));
    const moves = yield* Effect.forEach(crowd, (chatId) => links.move(chatId, ada, 1), atOnce);
    expectEqual(countOf(moves, "Moved"), 1);
    expectEqual(countOf(moves, "Occupied"), crowd.length - 1);
    const losers = crowd.filter((_, i) => moves[i]?._tag === "Occupied");
    expectEqual(yield* links.chatsOf(chess), new Map([[chess, [ada, ...losers]]]));
    expectEqual((yield* links.find(ada))?.linkVersion, 1);
  },

  "concurrent moveChat back and forth never loses or duplicates the link": function* () {
    const links = yield* newLinkSteps;
    yield* links.set(ada, chess);
    for (const round of rounds) {
      const [there, back] = [links.move(ada, bob, round), links.move(bob, ada, round)];
      yield* Effect.all([there, back, there], atOnce);
      expectEqual((yield* links.all).length, 1);
      expectEqual((yield* links.chatsOf(chess)).get(chess)?.length, 1);
    }
  },

  "setGame concurrent with moveChat to its chat user: one precedes the other": function* () {
    const links = yield* newLinkSteps;
    for (const round of rounds) {
      yield* links.deleteAll();
      yield* links.set(ada, chess, round);
      const [moved, set] = yield* Effect.all(
        [links.move(ada, bob, round), links.set(bob, poker, round)],
        atOnce,
      );
      const movedFirst = moved._tag === "Moved";
      expectEqual(moved, movedFirst ? { _tag: "Moved", gameId: chess } : { _tag: "Occupied" });
      expectEqual(set.previousGameId, movedFirst ? chess : null);
      expectEqual(yield* links.all, [
        ...(movedFirst ? [] : [line(ada, chess, round)]),
        line(bob, poker, round),
      ]);
    }
  },

  "importBatch concurrent with setGame: one precedes the other": function* () {
    const links = yield* newLinkSteps;
    for (const round of rounds) {
      yield* links.deleteAll();
      const [, set] = yield* Effect.all(
        [links.load([line(ada, rummy, 1)]), links.set(ada, chess, round)],
        atOnce,
      );
      const record = yield* links.find(ada);
      expectEqual(record?.linkVersion, 2);
      expectEqual(record?.gameId, set.previousGameId === null ? rummy : chess);
    }
  },

  "deleteScope concurrent with setGame: each record is deleted and counted, or remains": function* () {
    const links = yield* newLinkSteps;
    const sets = Effect.forEach(crowd, (chatId) => links.set(chatId, chess), atOnce);
    const [early, , late] = yield* Effect.all([links.deleteAll(), sets, links.deleteAll()], atOnce);
    expectEqual(
      early + late + (yield* links.all).length,
      crowd.length,
      "The number of deleted and remaining records",
    );
  },
};

/** Returns ada's game user after the last audit entry. Expects each entry to name her game user before the entry. */
const replay = (entries: ReadonlyArray<AuditEntry>): AuditValue =>
  entries.reduce<AuditValue>((current, entry) => {
    expectEqual(replacedBy(entry), current, "The previous game of an entry");
    return entry.action === "link.set" ? entry.details["gameId"] : null;
  }, null);

type AuditValue = AuditEntry["details"][string] | undefined;

const replacedBy = ({ action, details }: AuditEntry): AuditValue => {
  if (action === "link.set") return details["previousGameId"];
  return action === "link.removed" ? details["removedGameId"] : details["gameId"];
};
