import type { AuditLog, ChatId, EventStore, GameId, LinkStore, Pid } from "@accountlink/core";
import { Conflict } from "@accountlink/core/errors";
import type { FeedEvent } from "@accountlink/core/events";
import {
  type ImportableLink,
  type ImportStore,
  type UploadStore,
  undoableFor,
} from "@accountlink/core/imports";
import { Effect, Option, Struct } from "effect";
import * as FastCheck from "fast-check";
import { uniqueText } from "../../mod.ts";
import { ada, bob, chess, dan, poker } from "../scopes.ts";
import { at, fixed, index, mostly, type OperationsOf, operation, scope } from "./operation.ts";
import { nth } from "./subjects.ts";

const { array, boolean, constant, constantFrom, nat, option, record } = FastCheck;

const chatId = constantFrom(ada, bob, dan);
const gameId = constantFrom(chess, poker);
const chatIds = array(chatId, { maxLength: 4 });
const link: FastCheck.Arbitrary<ImportableLink> = record(
  { chatId, gameId, lastVerifiedAt: at, isUntimed: boolean() },
  { requiredKeys: ["chatId", "gameId", "lastVerifiedAt"] },
);

/** Omits the IDs of other runs, and sorts the rest, because a store may return them in any order. */
export const ownOf = <Id>(own: ReadonlyArray<Id>, named: ReadonlyArray<Id>): ReadonlyArray<Id> =>
  own.filter((id) => named.includes(id));

/** The hash of a user of either platform, by which a block finds the user after an erasure. */
export const hashOf = (user: ChatId | GameId | null): string => `hash of ${user}`;

/** The chat user of a write, with the hash by which a block finds the user. */
export const hashed = (user: ChatId) => ({ chatId: user, chatHash: Effect.succeed(hashOf(user)) });

/** That the scope does not admit a link is an answer too. */
const orRefused = <A, E>(write: Effect.Effect<A, Conflict | E>) =>
  Effect.catchIf(
    write,
    (error) => error instanceof Conflict,
    ({ reason }) => Effect.succeed(reason),
  );

export interface PartOfFile {
  readonly number: number;
  readonly isUndoable: boolean;
  /** Whether an earlier command imported a part. */
  readonly isContinued: boolean;
}

export const linkOperations = {
  "LinkStore.findByChatId": operation(1, { scope, chatId }, ({ links, pid }, input) =>
    links.findByChatId(pid, input.chatId),
  ),
  "LinkStore.findByChatIds": operation(1, { scope, chatIds }, ({ links, pid }, input) =>
    links.findByChatIds(pid, input.chatIds),
  ),
  "LinkStore.findGamesByChatIds": operation(1, { scope, chatIds }, ({ links, pid }, input) =>
    links.findGamesByChatIds(pid, input.chatIds),
  ),
  "LinkStore.findByGameIds": operation(
    1,
    { scope, gameIds: array(gameId, { maxLength: 3 }) },
    ({ links, pid }, { gameIds }) => links.findByGameIds(pid, gameIds),
  ),
  "LinkStore.exportPage": operation(
    1,
    { scope, after: option(chatId), limit: constantFrom(1, 2, 10) },
    ({ links, pid }, { after, limit }) => links.exportPage(pid, after, limit),
  ),
  "LinkStore.setGame": operation(4, { scope, at, chatId, gameId }, ({ links, write }, input) =>
    orRefused(links.setGame({ ...write, ...hashed(input.chatId), gameId: input.gameId })),
  ),
  "LinkStore.moveChat": operation(
    3,
    { scope, at, oldChatId: chatId, newChatId: chatId },
    ({ links, write }, { oldChatId, newChatId }) =>
      orRefused(links.moveChat({ ...write, oldChatId, newChatId, chatHash: hashed(newChatId).chatHash })),
  ),
  "LinkStore.removeGame": operation(2, { scope, at, chatId }, ({ links, write, sessionIds }, input) =>
    Effect.map(
      links.removeGame({ ...write, chatId: input.chatId }),
      Option.map((removed) => ({ ...removed, ended: ownOf(sessionIds, removed.ended) })),
    ),
  ),
  "LinkStore.restoreGame": operation(
    2,
    { scope, at, chatId, gameId, removedAt: at },
    ({ links, write }, input) =>
      orRefused(
        links.restoreGame({
          ...write,
          ...hashed(input.chatId),
          ...Struct.pick(input, ["gameId", "removedAt"]),
        }),
      ),
  ),
  "LinkStore.distrust": operation(1, { scope, at, chatId, gameId }, ({ links, write }, input) =>
    links.distrust({ ...write, ...Struct.pick(input, ["chatId", "gameId"]), reason: "named by a key" }),
  ),
  "LinkStore.deleteScope": operation(
    1,
    { scope, at, keepsBlocks: boolean() },
    ({ links, write, sessionIds }, { keepsBlocks }) =>
      Effect.map(links.deleteScope({ ...write, keepsBlocks }), (deleted) => ({
        ...deleted,
        ended: ownOf(sessionIds, deleted.ended),
      })),
  ),
  "LinkStore.countLinks": operation(1, { scope, from: at, before: at }, ({ links, pid }, verified) =>
    links.countLinks(pid, { verified }),
  ),
  "LinkStore.countWays": operation(1, { scope, since: at }, ({ links, pid }, { since }) =>
    Effect.map(links.countWays(pid, since), (ways) => new Set(ways)),
  ),
  "LinkStore.newestPage": fixed(({ links, pid }) =>
    links.newestPage(pid, { lastVerifiedAt: 0, chatId: ada }, 10),
  ),
} satisfies OperationsOf<"LinkStore", LinkStore["Service"]>;

/** The ID of an imported file. The parts of a file are imported into one scope. */
const fileId = (pid: Pid, file: number) => `${pid} ${file}`;

const undoneAt = mostly(4, 0, undoableFor, undoableFor + 3);

export const importOperations = {
  "ImportStore.importBatch": operation(
    3,
    {
      scope,
      at,
      // As many as the smallest engine imports in one commit.
      lines: array(link, { maxLength: 3 }),
      existing: constantFrom("keep", "replace", "newest"),
      // One position has more than 32 bits.
      position: option(constantFrom(3, 7, 2 ** 40)),
      proof: constantFrom("import", "oauth", null),
      // Only the sequences of undone imports name files.
      file: constant<PartOfFile | null>(null),
    },
    ({ imports, write }, { lines, position, file, ...batch }) => {
      const progress = position === null ? null : { source: write.pid, position };
      const from = file && {
        file: { id: fileId(write.pid, file.number), name: "users.csv", isUndoable: file.isUndoable },
        isContinued: file.isContinued,
      };
      return imports.importBatch({ ...write, ...batch, ...from, links: lines, progress });
    },
  ),
  "ImportStore.savePosition": operation(1, { position: nat(3), at }, ({ imports, pid }, input) =>
    imports.savePosition(pid, input.position, input.at),
  ),
  "ImportStore.importPosition": fixed(({ imports, pid }) => imports.importPosition(pid)),
  "ImportStore.listUndoable": operation(1, { at: undoneAt }, ({ imports, account }, input) =>
    Effect.map(imports.listUndoable(account.name, input.at), (all) => new Set(all)),
  ),
  "ImportStore.unfinishedUndos": fixed(({ imports, account }) =>
    Effect.map(
      imports.unfinishedUndos(null, 500),
      ({ undos }) => new Set(undos.filter((one) => one.account === account.name)),
    ),
  ),
  "ImportStore.undoablePage": operation(
    1,
    { scope, file: index, after: option(chatId), limit: constantFrom(1, 10) },
    ({ imports, pid }, { file, after, limit }) => imports.undoablePage(fileId(pid, file), after, limit),
  ),
  "ImportStore.undo": operation(
    4,
    { scope, at: undoneAt, of: scope, file: index, limit: constantFrom(1, 3) },
    ({ imports, write, ...world }, { of, file, limit }) =>
      imports.undo({ ...write, id: fileId(world[of].pid, file), limit }),
  ),
  "ImportStore.countChanges": fixed(({ imports, account }) => imports.countChanges(account.name, 0)),
  "ImportStore.sweep": fixed(({ imports }) => imports.sweep(-9_000_000)),
} satisfies OperationsOf<"ImportStore", ImportStore["Service"]>;

const held = { node: "property", at: -9_000, until: -9_000 };
const heldBy = () => ({ ...held, id: uniqueText() });

/** Named cases test running imports, which random sequences leave out. */
export const uploadOperations = {
  "UploadStore.begin": fixed(({ uploads }) =>
    uploads.begin({ ...heldBy(), account: uniqueText(), room: 2 ** 40 }),
  ),
  "UploadStore.append": fixed(({ uploads }) =>
    uploads.append(heldBy(), { file: "upload", part: 0, bytes: new Uint8Array(1) }),
  ),
  "UploadStore.readPart": fixed(({ uploads }) => uploads.readPart(uniqueText(), { file: "upload", part: 0 })),
  "UploadStore.find": fixed(({ uploads }) => uploads.find(uniqueText(), 0)),
  "UploadStore.save": fixed(({ uploads, pid }) =>
    uploads.save({ ...heldBy(), pid, phase: "over", details: "{}" }),
  ),
  "UploadStore.start": fixed(({ uploads }) => uploads.start(heldBy())),
  "UploadStore.take": fixed(({ uploads }) => uploads.take(held)),
  "UploadStore.remove": fixed(({ uploads }) => uploads.remove(uniqueText())),
  "UploadStore.sweep": fixed(({ uploads }) => uploads.sweep(-9_000_000)),
} satisfies OperationsOf<"UploadStore", UploadStore["Service"]>;

const filter = record({
  action: option(constantFrom("link.set", "link.removed", "key.updated", "member.added")),
  key: option(index),
  chatId: option(chatId),
  member: option(chatId),
  during: option(record({ from: nat(3), before: nat(5) })),
});

const place = nat(5);
const limit = constantFrom(1, 3, 100);

/** Positions of a feed differ between stores, so that inputs number them: the start, each event, and beyond the end. */
const placesOf = (events: EventStore["Service"], pid: Pid) =>
  Effect.zipWith(events.range(pid), events.readBack(pid, null, 1_000), ({ start, end }, all) => [
    start,
    ...all.map(({ position }) => position).toReversed(),
    end + 1_000_000,
  ]);

const placeIn = (places: ReadonlyArray<number>, number: number): number =>
  nth(places, number % places.length);

/** What an event says, without its position and its random ID. */
export const said = ({ type, at: time, data }: FeedEvent) => [type, time, data] as const;

export const historyOperations = {
  "AuditLog.list": operation(
    1,
    { scope, limit, filter, ofScope: boolean() },
    Effect.fnUntraced(function* (
      { log, account, keyIds, pid },
      { limit: most, filter: { key, ...filters }, ofScope },
    ) {
      const keyId = key === null ? null : nth(keyIds, key);
      const all = { ...filters, keyId, pid: ofScope ? pid : null } as const;
      const first = yield* log.list(account.name, null, most, all);
      const second = yield* log.list(account.name, first.next, most, all);
      // The sequence numbers differ between stores.
      return [first, second].map(({ entries, next }) => [
        entries.map(({ sequence: _, ...entry }) => entry),
        next === null,
      ]);
    }),
  ),
  "AuditLog.forget": fixed(({ log }) => log.forget(-1_000_000)),
  "EventStore.range": operation(1, { scope }, ({ events, pid }) =>
    Effect.zipWith(events.range(pid), placesOf(events, pid), ({ end }, places) => end === places.at(-2)),
  ),
  "EventStore.read": operation(2, { scope, place, limit }, ({ events, pid }, input) =>
    Effect.flatMap(placesOf(events, pid), (places) =>
      Effect.map(
        events.read(pid, placeIn(places, input.place), input.limit),
        Option.map((page) => page.map(said)),
      ),
    ),
  ),
  "EventStore.readBack": operation(1, { scope, place: option(place), limit }, ({ events, pid }, input) =>
    Effect.flatMap(placesOf(events, pid), (places) =>
      Effect.map(
        events.readBack(pid, input.place === null ? null : placeIn(places, input.place), input.limit),
        (page) => page.map(said),
      ),
    ),
  ),
  "EventStore.newer": operation(
    1,
    { of: array(scope, { maxLength: 2 }), place },
    ({ events, ...world }, input) =>
      Effect.forEach(input.of, (each) =>
        Effect.map(placesOf(events, world[each].pid), (places) => ({
          pid: world[each].pid,
          after: placeIn(places, input.place),
        })),
      ).pipe(
        Effect.flatMap(events.newer),
        Effect.map((found) => new Set(found)),
      ),
  ),
  "EventStore.sweep": fixed(({ events }) => events.sweep({ before: -1_000_000, erasuresBefore: -1_000_000 })),
} satisfies OperationsOf<"AuditLog", AuditLog["Service"]> & OperationsOf<"EventStore", EventStore["Service"]>;
