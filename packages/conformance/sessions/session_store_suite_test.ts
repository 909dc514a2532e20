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
  "complete logs the user as the actor": (store) => ({
    complete: (write) => store.complete({ ...write, requestId: "req_none" }),
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
