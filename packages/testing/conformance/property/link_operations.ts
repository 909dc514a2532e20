import type { AuditLog, EventStore, LinkStore } from "@accountlink/core";
import { Conflict } from "@accountlink/core/errors";
import type { ImportStore, PortableLink } from "@accountlink/core/links";
import { Effect, Option } from "effect";
import * as FastCheck from "fast-check";
import { uniqueText } from "../../mod.ts";
import { ada, bob, chess, dan, poker } from "../scopes.ts";
import { at, fixed, index, type OperationsOf, operation, scope } from "./operation.ts";
import { nth } from "./subjects.ts";

const { array, constantFrom, option, record } = FastCheck;

const chatId = constantFrom(ada, bob, dan);
const gameId = constantFrom(chess, poker);
const chatIds = array(chatId, { maxLength: 4 });
const link: FastCheck.Arbitrary<PortableLink> = record({ chatId, gameId, lastVerifiedAt: at });

/** Omits the IDs of other runs, and sorts the rest, because a store may return them in any order. */
export const ownOf = <Id>(own: ReadonlyArray<Id>, named: ReadonlyArray<Id>): ReadonlyArray<Id> =>
  own.filter((id) => named.includes(id));

/** A write that a block refuses is an answer too. */
const orBlocked = <A, E>(write: Effect.Effect<A, Conflict | E>) =>
  Effect.catchIf(
    write,
    (error) => error instanceof Conflict && error.reason === "blocked",
    () => Effect.succeed("blocked" as const),
  );

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
    orBlocked(links.setGame({ ...write, chatId: input.chatId, gameId: input.gameId })),
  ),
  "LinkStore.moveChat": operation(
    3,
    { scope, at, oldChatId: chatId, newChatId: chatId },
    ({ links, write }, { oldChatId, newChatId }) =>
      orBlocked(links.moveChat({ ...write, oldChatId, newChatId })),
  ),
  "LinkStore.removeGame": operation(2, { scope, at, chatId }, ({ links, write, sessionIds }, input) =>
    Effect.map(
      links.removeGame({ ...write, chatId: input.chatId }),
      Option.map((removed) => ({ ...removed, ended: ownOf(sessionIds, removed.ended) })),
    ),
  ),
  "LinkStore.deleteScope": operation(1, { scope, at }, ({ links, write, sessionIds }) =>
    Effect.map(links.deleteScope(write), (deleted) => ({
      ...deleted,
      ended: ownOf(sessionIds, deleted.ended),
    })),
  ),
  "LinkStore.importBatch": operation(
    3,
    {
      scope,
      at,
      lines: array(link, { maxLength: 4 }),
      existing: constantFrom("keep", "replace", "newest"),
      // One position has more than 32 bits.
      position: option(constantFrom(3, 7, 2 ** 40)),
      proof: constantFrom("import", null),
    },
    ({ links, write }, { lines, position, ...batch }) => {
      const progress = position === null ? null : { source: write.pid, position };
      return links.importBatch({ ...write, ...batch, links: lines, progress });
    },
  ),
  "LinkStore.importPosition": fixed(({ links, pid }) => links.importPosition(pid)),
  "LinkStore.countLinks": fixed(({ links, pid }) => links.countLinks(pid)),
  "LinkStore.newestPage": fixed(({ links, pid }) =>
    links.newestPage(pid, { lastVerifiedAt: 0, chatId: ada }, 10),
  ),
} satisfies OperationsOf<"LinkStore", LinkStore["Service"]>;

const held = { node: "property", at: -9_000, until: -9_000 };
const heldBy = () => ({ ...held, id: uniqueText() });

/** Named cases test imports of files, which random sequences leave out. */
export const importOperations = {
  "ImportStore.begin": fixed(({ imports }) =>
    imports.begin({ ...heldBy(), account: uniqueText(), room: 2 ** 40 }),
  ),
  "ImportStore.append": fixed(({ imports }) =>
    imports.append(heldBy(), { file: "upload", part: 0, bytes: new Uint8Array(1) }),
  ),
  "ImportStore.readPart": fixed(({ imports }) => imports.readPart(uniqueText(), { file: "upload", part: 0 })),
  "ImportStore.find": fixed(({ imports }) => imports.find(uniqueText(), 0)),
  "ImportStore.save": fixed(({ imports, pid }) =>
    imports.save({ ...heldBy(), pid, phase: "over", details: "{}" }),
  ),
  "ImportStore.start": fixed(({ imports }) => imports.start(heldBy())),
  "ImportStore.take": fixed(({ imports }) => imports.take(held)),
  "ImportStore.importBatch": fixed(({ imports, write }) =>
    imports.importBatch(heldBy(), { ...write, links: [], existing: "keep", proof: "import", progress: null }),
  ),
  "ImportStore.listUndoable": fixed(({ imports, account }) => imports.listUndoable(account.name, 0)),
  "ImportStore.countUndoable": fixed(({ imports }) => imports.countUndoable(uniqueText())),
  "ImportStore.undo": fixed(({ imports, write }) => imports.undo({ ...write, id: uniqueText(), limit: 10 })),
  "ImportStore.remove": fixed(({ imports }) => imports.remove(uniqueText())),
  "ImportStore.sweep": fixed(({ imports }) => imports.sweep(-9_000_000)),
} satisfies OperationsOf<"ImportStore", ImportStore["Service"]>;

const filter = record({
  action: option(constantFrom("link.set", "link.removed", "key.updated", "member.added")),
  key: option(index),
  chatId: option(chatId),
});

export const historyOperations = {
  "AuditLog.list": operation(
    1,
    { scope, limit: constantFrom(1, 3, 100), filter, ofScope: FastCheck.boolean() },
    ({ log, account, keyIds, pid }, { limit, filter: { key, ...filters }, ofScope }) => {
      const keyId = key === null ? null : nth(keyIds, key);
      const all = { ...filters, keyId, pid: ofScope ? pid : null } as const;
      return Effect.map(log.list(account.name, null, limit, all), (entries) =>
        // The sequence numbers differ between stores.
        entries.map(({ sequence: _, ...entry }) => entry),
      );
    },
  ),
  "AuditLog.forget": fixed(({ log }) => log.forget(-1_000_000)),
  // The positions of a feed differ between stores.
  "EventStore.range": fixed(({ events, pid }) => events.range(pid)),
  "EventStore.read": fixed(({ events, pid }) => events.read(pid, 0, 10)),
  "EventStore.readBack": fixed(({ events, pid }) => events.readBack(pid, null, 10)),
  "EventStore.newer": fixed(({ events, pid }) => events.newer([{ pid, after: 0 }])),
  "EventStore.oldestAt": fixed(({ events }) => events.oldestAt()),
  "EventStore.sweep": fixed(({ events }) => events.sweep({ before: -1_000_000, erasuresBefore: -1_000_000 })),
} satisfies OperationsOf<"AuditLog", AuditLog["Service"]> & OperationsOf<"EventStore", EventStore["Service"]>;
