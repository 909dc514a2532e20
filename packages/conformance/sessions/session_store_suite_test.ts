import { LinkStore } from "@accountlink/core";
import { SessionStore } from "@accountlink/core/sessions";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { sessionStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

type Store = SessionStore["Service"];

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(sessionStoreSuite, StorageMemory.layer, SessionStore, {
  "client IDs and redirects keep every Unicode text": (store) => ({
    create: (write) => {
      const session = { ...write.session, clientId: write.session.clientId.trim() };
      return store.create({ ...write, session });
    },
  }),
  "a burst admits its capacity at once, and one more with each refill": (store) => ({
    create: (write) =>
      Effect.map(store.create(write), (created) =>
        created._tag === "TooMany" ? { ...created, readyAt: created.readyAt + 1 } : created,
      ),
  }),
  "a refused create stores nothing, and takes nothing from the burst": (store) => ({
    create: (write) =>
      Effect.tap(store.create(write), ({ _tag }) =>
        _tag === "TooMany" ? store.create({ ...write, burst: null }) : Effect.void,
      ),
  }),
  "concurrent create never exceeds the capacity, and refuses all others with the same time": (store) => {
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
  "advance makes exactly the allowed transitions, each one change": (store) => ({
    advance: (write) => store.advance({ ...write, at: write.to === "expired" ? write.at + 1 : write.at }),
  }),
  "changedSince returns sessions that changed at or after a time, not those that were only created": (
    store,
  ) => ({
    changedSince: (at, among) => store.changedSince(at + 1, among),
  }),
  "changedSince among some sessions returns no others": (store) => ({
    changedSince: (at) => store.changedSince(at, null),
  }),
  "recordSightings keeps the latest of each chat user at each address": (store) => ({
    recordSightings: (scope, sightings) =>
      store.recordSightings(
        scope,
        sightings.map((one, index) => ({ ...one, seenAt: index })),
      ),
  }),
  "recordSightings in an unknown scope, or with unstorable text, is a defect": () => ({
    recordSightings: () => Effect.void,
  }),
  "sweep expires unfinished sessions at their deadline, and returns them": (store) => ({
    sweep: (times) => store.sweep({ ...times, at: times.at - 1 }),
  }),
  "sweep deletes sessions with a deadline before a time": (store) => ({
    sweep: (times) => store.sweep({ ...times, sessionsBefore: times.sessionsBefore + 1 }),
  }),
  "complete stores the link and completes the session, once": (store) => ({
    complete: (write) => store.complete({ ...write, at: write.at + 1 }),
  }),
  "complete logs the user as the actor": (store) => ({
    complete: (write) => store.complete({ ...write, requestId: "req_none" }),
  }),
  "complete requires both proofs of the flow, in its scope": (store) => ({
    complete: (write) =>
      Effect.map(store.complete(write), (completed) =>
        completed._tag === "FlowGone" ? ({ _tag: "LinkChanged" } as const) : completed,
      ),
  }),
  "complete refuses an expired flow and its session": (store) => ({
    complete: (write) => store.complete({ ...write, at: write.at - 1 }),
  }),
  "concurrent complete, cancel and expire: in any order, the session ends once": (store) => ({
    advance: (write) =>
      Effect.gen(function* () {
        const found = yield* store.find(write.id);
        yield* Effect.yieldNow;
        yield* store.advance(write);
        return Option.map(found, (session) => ({ session, changed: session.state === "pending" }));
      }),
  }),
  "concurrent complete of one flow: exactly one succeeds": (store) => {
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
});

/** Mistakes of `LinkStore` about sessions. */
detectMistakes(sessionStoreSuite, StorageMemory.layer, LinkStore, {
  "removeGame fails the unfinished sessions of its chat user in the scope": (links) => ({
    removeGame: (write) =>
      Effect.map(
        links.removeGame(write),
        Option.map((removed) => ({ ...removed, ended: removed.ended.slice(1) })),
      ),
  }),
  "removeGame without a link ends no session": (links) => ({
    removeGame: (write) =>
      Effect.gen(function* () {
        yield* links.deleteScope(write);
        return yield* links.removeGame(write);
      }),
  }),
  "deleteScope fails all unfinished sessions of the scope, and removes all proofs": (links) => ({
    deleteScope: (write) => Effect.map(links.deleteScope(write), (deleted) => ({ ...deleted, ended: [] })),
  }),
  "removeGame removes the proofs of its chat user, and the flow can restart": (links) => ({
    removeGame: (write) =>
      Effect.gen(function* () {
        const found = Option.getOrNull(yield* links.findByChatId(write.pid, write.chatId));
        if (found === null || found.gameId === null) return Option.none();
        const newChatId = `9${write.chatId}` as typeof write.chatId;
        yield* links.moveChat({ ...write, oldChatId: write.chatId, newChatId });
        return Option.some({ gameId: found.gameId, ended: [] });
      }),
  }),
});
