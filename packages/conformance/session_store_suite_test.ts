import { LinkStore, SessionStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { sessionStoreSuite } from "./mod.ts";

type Store = SessionStore["Service"];
type Links = LinkStore["Service"];

const memory = StorageMemory.layer;

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "names of clients and redirects are texts": (store) => ({
    create: (write) => {
      const session = { ...write.session, clientId: write.session.clientId.trim() };
      return store.create({ ...write, session });
    },
  }),
  "a burst has its capacity at once, and one more with each refill": (store) => ({
    create: (write) =>
      Effect.map(store.create(write), (created) =>
        created._tag === "TooMany" ? { ...created, readyAt: created.readyAt + 1 } : created,
      ),
  }),
  "a refused creation stores nothing and takes nothing": (store) => ({
    create: (write) =>
      Effect.tap(store.create(write), ({ _tag }) =>
        _tag === "TooMany" ? store.create({ ...write, burst: null }) : Effect.void,
      ),
  }),
  "racing create: never more than the capacity, and all others are told the same": (store) => {
    const fresh = new Set<string>();
    return {
      create: (write) =>
        Effect.gen(function* () {
          const isFirst = !fresh.has(write.session.keyId);
          yield* Effect.yieldNow;
          fresh.add(write.session.keyId);
          return yield* store.create(isFirst ? { ...write, burst: null } : write);
        }),
    };
  },
  "advance takes the steps that there are, each one change, and no other": (store) => ({
    advance: (write) => store.advance({ ...write, at: write.to === "expired" ? write.at + 1 : write.at }),
  }),
  "changedSince gives what changed at or after a time, and not what was only created": (store) => ({
    changedSince: (at, among) => store.changedSince(at + 1, among),
  }),
  "changedSince among some sessions gives no other": (store) => ({
    changedSince: (at) => store.changedSince(at, null),
  }),
  "recordSightings takes what it was given before, and what it is given twice": (store) => ({
    recordSightings: (scope, sightings) =>
      new Set(sightings.map(({ chatId }) => chatId)).size < sightings.length
        ? Effect.die("A row was written twice")
        : store.recordSightings(scope, sightings),
  }),
  "recordSightings in a scope that does not exist, or of text that cannot be stored, is a defect": () => ({
    recordSightings: () => Effect.void,
  }),
  "sweep expires what is unfinished at its deadline, and says which": (store) => ({
    sweep: (times) => store.sweep({ ...times, at: times.at - 1 }),
  }),
  "sweep forgets sessions whose deadline is before a time": (store) => ({
    sweep: (times) => store.sweep({ ...times, sessionsBefore: times.sessionsBefore + 1 }),
  }),
  "complete stores the link and completes the session, once": (store) => ({
    complete: (write) => store.complete({ ...write, at: write.at + 1 }),
  }),
  "complete by the user who is linked is logged as theirs": (store) => ({
    complete: (write) => store.complete({ ...write, requestId: "req_none" }),
  }),
  "a flow without both of these proofs, or of another scope, is gone, and stays": (store) => ({
    complete: (write) =>
      Effect.map(store.complete(write), (completed) =>
        completed._tag === "FlowGone" ? ({ _tag: "LinkChanged" } as const) : completed,
      ),
  }),
  "a flow is gone at its deadline, and its session over": (store) => ({
    complete: (write) => store.complete({ ...write, at: write.at - 1 }),
  }),
  "racing complete, cancel and expire: whoever comes first, the session ends once": (store) => ({
    advance: (write) =>
      Effect.gen(function* () {
        const found = yield* store.find(write.id);
        yield* Effect.yieldNow;
        yield* store.advance(write);
        return Option.map(found, (session) => ({ session, changed: session.state === "pending" }));
      }),
  }),
  "racing complete of one flow: exactly one completes": (store) => {
    const answers = new Map<string, Effect.Success<ReturnType<Store["complete"]>>>();
    return {
      complete: (write) =>
        Effect.gen(function* () {
          const isFirst = !answers.has(write.flow);
          yield* Effect.yieldNow;
          const completed = yield* store.complete(write);
          if (completed._tag === "Completed") answers.set(write.flow, completed);
          return isFirst ? (answers.get(write.flow) ?? completed) : completed;
        }),
    };
  },
};

/** What the other port may get wrong about sessions. */
const removalMistakes: Readonly<Record<string, (links: Links) => Partial<Links>>> = {
  "removeGame ends the unfinished sessions of its chat user in the scope": (links) => ({
    removeGame: (write) =>
      Effect.map(
        links.removeGame(write),
        Option.map((removed) => ({ ...removed, ended: removed.ended.slice(1) })),
      ),
  }),
  "a removal that finds no link ends nothing": (links) => ({
    removeGame: (write) =>
      Effect.gen(function* () {
        yield* links.deleteScope(write);
        return yield* links.removeGame(write);
      }),
  }),
  "deleteScope ends every unfinished session of the scope and takes every proof": (links) => ({
    deleteScope: (write) => Effect.map(links.deleteScope(write), (deleted) => ({ ...deleted, ended: [] })),
  }),
};

test.describe("sessionStoreSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test
      .expect(await failingTitles((api) => sessionStoreSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, SessionStore, mistake);
    test
      .expect(await failingTitles((api) => sessionStoreSuite({ name: "", layer, test: api })))
      .toContain(title);
  });

  test.it.each(Object.entries(removalMistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, LinkStore, mistake);
    test
      .expect(await failingTitles((api) => sessionStoreSuite({ name: "", layer, test: api })))
      .toContain(title);
  });

  test.it("finds proofs that outlive a removal", async () => {
    const layer = altered(memory, LinkStore, (links) => ({
      removeGame: (write) =>
        Effect.gen(function* () {
          const found = Option.getOrNull(yield* links.findByChatId(write.pid, write.chatId));
          if (found === null || found.gameId === null) return Option.none();
          yield* links.moveChat({
            ...write,
            oldChatId: write.chatId,
            newChatId: `9${write.chatId}` as typeof write.chatId,
          });
          return Option.some({ gameId: found.gameId, ended: [] });
        }),
    }));
    const failed = await failingTitles((api) => sessionStoreSuite({ name: "", layer, test: api }));
    test
      .expect(failed)
      .toContain("removeGame takes the proofs of its chat user, and the flow can begin again");
  });
});
