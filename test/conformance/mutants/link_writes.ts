/** Mistakes in writes of links, and in what is read while they happen. */
import type { Mutant } from "./mutant.ts";

const links = "links/link_store.ts";
const setGame = "links/set_game.ts";
const setGameCall = "setGame: (write) => Effect.sync(() => setGame(memory, write)),";
const removeGameCall = "removeGame: (write) => Effect.sync(() => removeGame(memory, write)),";
const importCall = "importBatch: (batch) => Effect.sync(() => importBatch(memory, batch)),";

export const mutants: ReadonlyArray<Mutant> = [
  {
    mistake: "lost update: setGame writes over what was committed since it read",
    file: links,
    from: setGameCall,
    to: `setGame: (write) =>
      Effect.suspend(() => {
        const seen = memory.links.get(write.pid)?.find(write.chatId);
        return Effect.andThen(Effect.yieldNow, Effect.sync(() => {
          if (seen !== undefined) memory.linksOf(write.pid).put(seen);
          return setGame(memory, write);
        }));
      }),`,
  },
  {
    mistake: "late commit: setGame answers before its record is stored",
    file: links,
    from: setGameCall,
    to: `setGame: (write) =>
      Effect.sync(() => {
        const scope = memory.linksOf(write.pid);
        const before = scope.find(write.chatId);
        const set = setGame(memory, write);
        if (before === undefined) scope.remove(write.chatId);
        else scope.put(before);
        setTimeout(() => scope.put(set.record), 2);
        return set;
      }),`,
  },
  {
    mistake: "late commit: removeGame answers before the link is gone",
    file: links,
    from: removeGameCall,
    to: `removeGame: (write) =>
      Effect.sync(() => {
        const scope = memory.linksOf(write.pid);
        const before = scope.find(write.chatId);
        const removed = removeGame(memory, write);
        const after = scope.find(write.chatId);
        if (before !== undefined && after !== undefined && before !== after) {
          scope.put(before);
          setTimeout(() => scope.put(after), 2);
        }
        return removed;
      }),`,
  },
  {
    mistake: "lost update: of removals at once each answers that it removed the link",
    file: links,
    from: removeGameCall,
    to: `removeGame: (write) =>
      Effect.suspend(() => {
        const seen = memory.links.get(write.pid)?.find(write.chatId);
        return Effect.andThen(Effect.yieldNow, Effect.sync(() => {
          const removed = removeGame(memory, write);
          return Option.isNone(removed) && seen?.gameId ? Option.some({ gameId: seen.gameId, ended: [] }) : removed;
        }));
      }),`,
  },
  {
    mistake: "torn batch: importBatch commits line by line",
    file: links,
    from: importCall,
    to: `importBatch: (batch) =>
      Effect.gen(function* () {
        const counts = { inserted: 0, replaced: 0, kept: 0 };
        for (const line of batch.links) {
          const one = importBatch(memory, { ...batch, links: [line] });
          counts.inserted += one.inserted;
          counts.replaced += one.replaced;
          counts.kept += one.kept;
          yield* Effect.yieldNow;
        }
        return counts;
      }),`,
  },
  {
    mistake: "stale read: findByChatId answers from a cache that writes do not end",
    file: links,
    from: "Effect.sync(() => Option.fromUndefinedOr(memory.links.get(pid)?.find(chatId))),",
    to: `Effect.sync(() => {
          const cache: Map<string, unknown> = ((memory as any).cache ??= new Map());
          const name = pid + chatId;
          if (!cache.has(name)) {
            cache.set(name, Option.fromUndefinedOr(memory.links.get(pid)?.find(chatId)));
            setTimeout(() => cache.delete(name), 20);
          }
          return cache.get(name) as any;
        }),`,
  },
  {
    mistake: "stale read: findByGameIds reads what was committed a turn ago",
    file: links,
    from: "findByGameIds: (pid, gameIds) =>\n        Effect.sync(() => {\n          const links = memory.links.get(pid);",
    to: `findByGameIds: (pid, gameIds) =>
        Effect.sync(() => {
          const links = ((memory as any)["seen" + pid] ?? memory.links.get(pid)) as ScopeLinks | undefined;
          const next = new ScopeLinks((memory.links.get(pid) ?? { scope: null as never }).scope);
          for (const link of memory.links.get(pid)?.linksAfter(null, 1e6) ?? []) next.put(link);
          setTimeout(() => { (memory as any)["seen" + pid] = next; }, 0);`,
  },
  {
    mistake: "missing entry: a moved link is not in the audit log",
    file: links,
    from: `  memory.record({
    ...write,
    action: "link.moved",
    scope: links.scope,
    details: { chatId: oldChatId, newChatId, gameId },
  });
`,
    to: "",
  },
  {
    mistake: "missing entry: a removed link is not in the audit log",
    file: links,
    from: `  memory.record({
    ...write,
    action: "link.removed",
    scope: links.scope,
    details: { chatId, removedGameId: link.gameId },
  });
`,
    to: "",
  },
  {
    mistake: "missing entry: an import is not in the audit log",
    file: links,
    from: "if (counts.inserted + counts.replaced > 0) {",
    to: "if (counts.inserted + counts.replaced > 1e9) {",
  },
  {
    mistake: "superfluous entry: an import without a change is in the audit log",
    file: links,
    from: "if (counts.inserted + counts.replaced > 0) {",
    to: "if (true) {",
  },
  {
    mistake: "missing entry: a deleted scope is not in the audit log",
    file: links,
    from: `  memory.record({ ...write, action: "scope.deleted", scope: links.scope, details: { deletedRecords } });
`,
    to: "",
  },
  {
    mistake: "superfluous entry: a confirmed link is in the audit log",
    file: setGame,
    from: "    links.put(record);\n    return { record, previousGameId };\n  }",
    to: `    links.put(record);
    memory.record({ ...write, action: "link.set", scope: links.scope, details: { chatId, gameId, previousGameId } });
    return { record, previousGameId };
  }`,
  },
  {
    mistake: "wrong entry: a set link names no previous game",
    file: setGame,
    from: "details: { chatId, gameId, previousGameId },",
    to: "details: { chatId, gameId, previousGameId: null },",
  },
  {
    mistake: "a confirmed link becomes a new version",
    file: setGame,
    from: "const record = { ...link, lastVerifiedAt: at };",
    to: "const record = { ...link, lastVerifiedAt: at, linkVersion: link.linkVersion + 1 };",
  },
  {
    mistake: "a confirmed link becomes the newest of its game",
    file: setGame,
    from: "const record = { ...link, lastVerifiedAt: at };",
    to: "const record = { ...link, lastVerifiedAt: at, linkedAt: at };",
  },
  {
    mistake: "the version starts again after a removal",
    file: links,
    from: "links.put(unlinkedRecord(link, at));\n  return Option.some({ gameId",
    to: "links.remove(chatId);\n  return Option.some({ gameId",
  },
  {
    mistake: "moveChat takes the link of an occupied chat user away",
    file: links,
    from: `if (findLink(target) !== undefined) return { _tag: "Occupied" } as const;`,
    to: "",
  },
  {
    mistake: "moveChat forgets the old record",
    file: links,
    from: "links.put(unlinkedRecord(link, at));\n  links.put(linkedRecord(newChatId",
    to: "links.remove(oldChatId);\n  links.put(linkedRecord(newChatId",
  },
  {
    mistake: "moveChat keeps the old link too",
    file: links,
    from: "links.put(unlinkedRecord(link, at));\n  links.put(linkedRecord(newChatId",
    to: "links.put(linkedRecord(newChatId",
  },
];
