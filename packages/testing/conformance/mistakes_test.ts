/**
 * What an adapter does wrong that a case could miss by chance: races, and what happens at another moment. Each mistake is
 * named by the case of its suite that detects it; a case that compares an answer with a value needs no mistake.
 */

import { Counters, EventStore, LinkStore, Signals } from "@accountlink/core";
import { IdempotencyStore } from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import { RootKeyStore } from "@accountlink/core/secrets";
import { SessionStore } from "@accountlink/core/sessions";
import { UsageStore } from "@accountlink/core/usage";
import { UserStore } from "@accountlink/core/users";
import { WebhookStore } from "@accountlink/core/webhooks";
import { CacheMemory, StorageMemory } from "@accountlink/memory";
import { type Context, Effect, type Layer, Option, Queue, Scope } from "effect";
import { describe, expect, it } from "vitest";
import {
  countersSuite,
  eventStoreSuite,
  idempotencyStoreSuite,
  keyStoreSuite,
  linkStoreSuite,
  rootKeyStoreSuite,
  type SuiteOptions,
  sessionStoreSuite,
  signalsSuite,
  type TestApi,
  usageStoreSuite,
  userStoreSuite,
  webhookStoreSuite,
} from "./mod.ts";
import { failingTitles, withMistake } from "./test_mistakes.ts";

/**
 * Declares a test for each mistake of a port: the case of the suite with that title fails. That the cases pass on a
 * right adapter is tested where the adapters are.
 */
const detectMistakes = <Ports, Port extends Ports, Shape extends object>(
  suite: (options: SuiteOptions<Ports>) => void,
  right: Layer.Layer<Ports>,
  port: Context.Key<Port, Shape>,
  mistakes: Readonly<Record<string, (original: Shape) => Partial<Shape>>>,
): void => {
  describe(`${suite.name} on a wrong ${port.key}`, () => {
    it.each(Object.entries(mistakes))("fails: %s", async (title, mistake) => {
      const layer = withMistake(right, port, mistake);
      const failed = await failingTitles((test) => suite({ name: "", layer, test: only(title, test) }));
      expect(failed).toEqual([title]);
    });
  });
};

/** Registers the case with this title alone. */
const only = (title: string, test: TestApi): TestApi => ({
  ...test,
  it: Object.assign(
    (name: string, body: () => Promise<void>) => name === title && test.it(name, body),
    test.it,
  ),
});

detectMistakes(linkStoreSuite, StorageMemory.layer, LinkStore, {
  "concurrent setGame on one chat user: versions and previous games form one chain": (store) => ({
    setGame: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.chatId);
        yield* Effect.yieldNow;
        const previousGameId = Option.getOrNull(found)?.gameId ?? null;
        return { ...(yield* store.setGame(write)), previousGameId };
      }),
  }),
  "concurrent moveChat to one chat user: exactly one succeeds": (store) => ({
    moveChat: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.newChatId);
        yield* Effect.yieldNow;
        if (Option.isSome(found)) return { _tag: "Occupied" as const };
        yield* store.removeGame({ ...write, chatId: write.newChatId });
        return yield* store.moveChat(write);
      }),
  }),
  "a large scope is deleted and counted like a small one, with one audit entry": (store) => ({
    deleteAhead: (write) => Effect.as(store.deleteScope(write), null),
  }),
  "readers never see a partial batch": (store) => ({
    importBatch: (batch) =>
      Effect.gen(function* () {
        let counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
        for (const link of batch.links) {
          counts = yield* store.importBatch({ ...batch, links: [link] });
          yield* Effect.yieldNow;
        }
        return counts;
      }),
  }),
  "an interrupted importBatch stores links, position and entry, or none of them": (store) => ({
    importBatch: (batch) =>
      Effect.gen(function* () {
        const counts = yield* store.importBatch({ ...batch, progress: null });
        yield* Effect.yieldNow;
        yield* store.importBatch({ ...batch, links: [] });
        return counts;
      }),
  }),
});

detectMistakes(keyStoreSuite, StorageMemory.layer, KeyStore, {
  "concurrent insertKey never exceeds the maximum": (store) => ({
    insertKey: (write) =>
      Effect.gen(function* () {
        const { length } = yield* store.listKeys(write.key.scope.account, 0);
        yield* Effect.yieldNow;
        const full = write.maxKeys !== null && length >= write.maxKeys;
        return full ? "too_many_keys" : yield* store.insertKey({ ...write, maxKeys: null });
      }),
  }),
  "concurrent updateKey to revoked: exactly one revokes": (store) => ({
    updateKey: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findById(write.id);
        yield* Effect.yieldNow;
        const outcome = yield* store.updateKey(write);
        return Option.exists(found, ({ status }) => status !== "revoked") ? "updated" : outcome;
      }),
  }),
  "concurrent suspensions: exactly one changes the account": (store) => ({
    updateAccount: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findAccount(write.name);
        yield* Effect.yieldNow;
        const updated = yield* store.updateAccount(write);
        const changed = Option.exists(found, ({ status }) => status === "active");
        return Option.map(updated, ({ keys }) => ({ changed, keys }));
      }),
  }),
  "concurrent ensureScope: all return the one that was created": (store) => ({
    ensureScope: (account, target, pid) =>
      Effect.gen(function* () {
        const found = yield* store.findScope(account, target);
        yield* Effect.yieldNow;
        const made = { ...(yield* store.ensureScope(account, target, pid)), pid };
        return Option.getOrElse(found, () => made);
      }),
  }),
});

detectMistakes(sessionStoreSuite, StorageMemory.layer, SessionStore, {
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
    const answers = new Map<string, Effect.Success<ReturnType<typeof store.complete>>>();
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

detectMistakes(eventStoreSuite, StorageMemory.layer, EventStore, {
  "a read that begins after a write was answered has its event": (store) => ({
    range: (pid) => Effect.map(store.range(pid), ({ start, end }) => ({ start, end: end + 1 })),
  }),
  "who follows the feed while others write sees each event once, and those of a user in order": (store) => ({
    read: (pid, after, limit) =>
      Effect.map(
        store.read(pid, after, limit),
        Option.map((events) => events.slice(1)),
      ),
  }),
});

detectMistakes(idempotencyStoreSuite, StorageMemory.layer, IdempotencyStore, {
  "racing claims: one request gets the key": (store) => ({
    claim: (claim) => Effect.andThen(Effect.yieldNow, store.claim({ ...claim, id: claim.requestId })),
  }),
  "of two requests whose claims followed each other, the later one commits": (store) => ({
    commit: (claim, write) =>
      Effect.flatMap(write, (answered) => store.commit(claim, Effect.succeed(answered))),
  }),
  "commit of createSession: nothing is stored without the key": (store) => ({
    commit: (claim, write) => Effect.tap(store.commit(claim, write), () => Effect.exit(write)),
  }),
});

detectMistakes(countersSuite, CacheMemory.layer, Counters, {
  "concurrent requests never exceed a limit": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const states = yield* counters.read(rules, now);
      yield* Effect.yieldNow;
      const admitted = rules.every(({ limit }, i) => (states[i]?.count ?? 0) < limit);
      if (!admitted) return { admitted, states };
      return yield* counters.admit(
        rules.map((rule) => ({ ...rule, limit: Number.MAX_SAFE_INTEGER })),
        now,
      );
    }),
  }),
  "concurrent requests count one after the other": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const { admitted } = yield* counters.admit(rules, now);
      yield* Effect.yieldNow;
      return { admitted, states: yield* counters.read(rules, now) };
    }),
  }),
  "any sequence of requests agrees with the model": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const admissions = yield* Effect.forEach(rules, (rule) => counters.admit([rule], now));
      return {
        admitted: admissions.every(({ admitted }) => admitted),
        states: admissions.flatMap(({ states }) => states),
      };
    }),
  }),
});

detectMistakes(rootKeyStoreSuite, StorageMemory.layer, RootKeyStore, {
  "concurrent adopts all return the same root key": (store) => ({
    adopt: (wrapped) => Effect.andThen(Effect.yieldNow, Effect.as(store.adopt(wrapped), wrapped)),
  }),
  "concurrent replaces: exactly one succeeds": (store) => ({
    replace: (expected, next) => Effect.as(store.replace(expected, next), true),
  }),
});

detectMistakes(signalsSuite, CacheMemory.layer, Signals, {
  "a subscriber receives no message from before its subscription": (signals) => {
    const last = new Map<string, string>();
    return {
      publish: (topic, message) => {
        last.set(topic, message);
        return signals.publish(topic, message);
      },
      subscribe: (topic) =>
        Effect.tap(signals.subscribe(topic), (queue) => {
          const message = last.get(topic);
          return message === undefined ? Effect.void : Queue.offer(queue as Queue.Queue<string>, message);
        }),
    };
  },
  "a subscription ends with its scope, and others continue": (signals) => ({
    subscribe: (topic) => Scope.provide(signals.subscribe(topic), Scope.makeUnsafe()),
  }),
});

detectMistakes(usageStoreSuite, StorageMemory.layer, UsageStore, {
  "a batch that is added several times at once counts once": (usage) => ({
    add: (batch) => Effect.andThen(Effect.yieldNow, usage.add({ ...batch, meter: crypto.randomUUID() })),
  }),
});

detectMistakes(userStoreSuite, StorageMemory.layer, UserStore, {
  "concurrent erase: each record, sighting and entry is erased once": (users) => ({
    erase: (write) =>
      Effect.gen(function* () {
        const { records } = yield* users.find(write.chatId);
        yield* Effect.yieldNow;
        const erased = yield* users.erase(write);
        return Option.map(erased, (parts) => ({ ...parts, records: records.length }));
      }),
  }),
});

detectMistakes(webhookStoreSuite, StorageMemory.layer, WebhookStore, {
  "concurrent inserts keep to the maximum of the scope, and another scope has its own": (store) => ({
    insert: (write) => store.insert({ ...write, maxOfScope: Infinity }),
  }),
});
