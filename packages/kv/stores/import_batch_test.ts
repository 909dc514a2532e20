import { AuditLog, ChatId, EventStore, GameId, LinkStore } from "@accountlink/core";
import { ImportStore } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { type PortableLink } from "@accountlink/core/links";
import { Effect } from "effect";
import { expect, it } from "vitest";
import { layer, memoryKv, minChanges } from "../mod.ts";
import { dyingKv } from "./test_dying_kv.ts";
import { makeScope, pid } from "./test_storage.ts";

const member = ChatId.make("20001");
const write = { actor: { type: "account", id: "acme", member }, requestId: null, pid, at: 1 } as const;

const linksTo = (gameId: string, lastVerifiedAt: number): ReadonlyArray<PortableLink> =>
  Array.from({ length: 150 }, (_, index) => ({
    chatId: ChatId.make(String(10_000 + index)),
    gameId: GameId.make(gameId),
    lastVerifiedAt,
  }));

it("an import and its undo have commits that the smallest engine makes", () =>
  Effect.gen(function* () {
    yield* makeScope;
    const [links, imports] = [yield* LinkStore, yield* ImportStore];
    const batch = { ...write, existing: "replace", progress: null } as const;
    const file = { id: "second", name: "second.csv", isUndoable: true };
    yield* imports.importBatch({ ...batch, links: linksTo("1", 1), proof: "hand" });
    yield* imports.importBatch({ ...batch, links: linksTo("2", 2), proof: "import", file });

    const undoable = yield* imports.undoablePage(file.id, null, 1_000);
    expect([undoable.links.length, undoable.next]).toEqual([150, null]);
    let restored = 0;
    for (let isDone = false; !isDone; ) {
      const undone = yield* imports.undo({ ...write, id: file.id, limit: 1_000 });
      restored += undone.restored;
      isDone = undone.isDone;
    }
    expect(restored).toBe(150);
    const found = yield* links.findByGameIds(pid, [GameId.make("1")]);
    expect(found.get(GameId.make("1"))?.length).toBe(150);

    const log = yield* AuditLog;
    const { entries } = yield* log.list("acme", null, 1_000);
    expect(entries.map(({ details }) => details)).toEqual([
      { file: "second.csv", removed: 0, restored: 150 },
      { file: "second.csv", inserted: 0, replaced: 150, unchanged: 0, kept: 0 },
      { inserted: 150, replaced: 0, unchanged: 0, kept: 0 },
    ]);
  }).pipe(
    Effect.provide(layer(Effect.sync(() => ({ ...memoryKv(), maxChanges: minChanges })))),
    Effect.runPromise,
  ));

it("an import and its undo check more game users than a commit has checks, if the scope allows one chat user", () =>
  Effect.gen(function* () {
    yield* makeScope;
    const imports = yield* ImportStore;
    yield* KeyStore.use((keys) => keys.updateSettings({ ...write, update: { oneChatUser: true } }));
    const linksFrom = (game: number) =>
      linksTo("1", game).map((link, index) => ({ ...link, gameId: GameId.make(String(game + index)) }));
    const batch = { ...write, existing: "replace", proof: "import", progress: null } as const;
    const file = { id: "second", name: "second.csv", isUndoable: true };
    const inserted = yield* imports.importBatch({ ...batch, links: linksFrom(1_000) });
    const replaced = yield* imports.importBatch({ ...batch, links: linksFrom(2_000), file });
    expect([inserted.inserted, replaced.replaced]).toEqual([150, 150]);
    const undone = yield* imports.undo({ ...write, id: file.id, limit: 1_000 });
    expect(undone).toEqual({ removed: 0, restored: 150, isDone: true });
  }).pipe(Effect.provide(layer(Effect.sync(memoryKv))), Effect.runPromise));

it("an interrupted import has an event and an audit entry of what it stored, and goes on when it is repeated", () => {
  const { left, engine } = dyingKv(memoryKv(), Infinity);
  return Effect.gen(function* () {
    yield* makeScope;
    const [links, imports] = [yield* LinkStore, yield* ImportStore];
    const [feed, log] = [yield* EventStore, yield* AuditLog];
    const progress = { source: "old bot", position: 150 };
    const batch = {
      ...write,
      existing: "replace",
      proof: "import",
      links: linksTo("1", 1),
      progress,
    } as const;
    const told = Effect.map(feed.readBack(pid, null, 100), (events) =>
      events.map(({ data }) => ("count" in data ? data.count : 0)).reduce((sum, count) => sum + count, 0),
    );
    const logged = Effect.map(log.list("acme", null, 100), ({ entries }) =>
      entries.map(({ details }) => details["inserted"]),
    );
    left.commits = 2;
    expect((yield* Effect.flip(imports.importBatch(batch)))._tag).toBe("StoreUnavailable");
    const stored = yield* links.countLinks(pid);
    expect([stored > 0, stored < 150, yield* imports.importPosition("old bot")]).toEqual([true, true, 0]);
    expect([yield* told, yield* logged]).toEqual([stored, [stored]]);
    left.commits = Infinity;
    expect(yield* imports.importBatch(batch)).toMatchObject({ inserted: 150 - stored, unchanged: stored });
    expect([yield* links.countLinks(pid), yield* imports.importPosition("old bot")]).toEqual([150, 150]);
    expect([yield* told, yield* logged]).toEqual([150, [150 - stored, stored]]);
  }).pipe(Effect.provide(layer(Effect.succeed(engine))), Effect.runPromise);
});
