import {
  AuditLog,
  Cache,
  Counters,
  KeyStore,
  LinkStore,
  Signals,
  type StoreUnavailable,
} from "@accountlink/core";
import { Clock, Effect, type Scope } from "effect";
import { ada, bob, chess, makeKey, makeWorld, origin, uniquePid, uniqueText } from "../world.ts";

/** Operations by name, ready to run; each can be run again. */
export type Operations = Readonly<Record<string, Effect.Effect<unknown, StoreUnavailable, Scope.Scope>>>;

/** Each operation of the port, no more and no less. */
type OperationsOf<Port> = {
  readonly [Name in keyof Port]: Effect.Effect<unknown, StoreUnavailable, Scope.Scope>;
};

const prefixed = (port: string, operations: Operations): Operations =>
  Object.fromEntries(Object.entries(operations).map(([name, operation]) => [`${port}.${name}`, operation]));

/** Every operation of the three storage ports. */
export const storageOperations = Effect.gen(function* () {
  const [links, keys, log] = [yield* LinkStore, yield* KeyStore, yield* AuditLog];
  const { account, global } = yield* makeWorld;
  const { pid } = global;
  const [key, hash] = [makeKey(global), uniqueText()];
  const at = 0;
  return {
    ...prefixed("LinkStore", {
      findByChatId: links.findByChatId(pid, ada),
      findByChatIds: links.findByChatIds(pid, [ada, bob]),
      findByGameIds: links.findByGameIds(pid, [chess]),
      setGame: links.setGame({ ...origin, pid, at, chatId: ada, gameId: chess }),
      moveChat: links.moveChat({ ...origin, pid, at, oldChatId: ada, newChatId: bob }),
      removeGame: links.removeGame({ ...origin, pid, at, chatId: bob }),
      deleteScope: links.deleteScope({ ...origin, pid, at }),
      importBatch: links.importBatch({
        ...origin,
        pid,
        at,
        links: [],
        existing: "keep",
        progress: { source: pid, position: 1 },
      }),
      importPosition: links.importPosition(pid),
      exportPage: links.exportPage(pid, null, 10),
    } satisfies OperationsOf<LinkStore["Service"]>),
    ...prefixed("KeyStore", {
      ensureAccount: keys.ensureAccount(account),
      findAccount: keys.findAccount(account.name),
      ensureScope: keys.ensureScope(account.name, { kind: "global" }, uniquePid()),
      findScope: keys.findScope(account.name, { kind: "global" }),
      insertKey: keys.insertKey({ ...origin, key, hash, maxKeys: null, at }),
      findByHash: keys.findByHash(hash),
      findById: keys.findById(key.id),
      listKeys: keys.listKeys(account.name),
      rotateKey: Effect.suspend(() =>
        keys.rotateKey({ ...origin, id: key.id, hash: uniqueText(), at, previousUntil: at }),
      ),
      setKeyStatus: keys.setKeyStatus({
        ...origin,
        id: key.id,
        status: "disabled",
        at,
        action: "key.status_changed",
      }),
    } satisfies OperationsOf<KeyStore["Service"]>),
    ...prefixed("AuditLog", {
      append: log.append({
        ...origin,
        at,
        account: account.name,
        pid,
        action: "links.imported",
        details: {},
      }),
      list: log.list(account.name, null, 10),
    } satisfies OperationsOf<AuditLog["Service"]>),
  };
});

/** Every operation of `Counters`. */
export const countersOperations = Effect.gen(function* () {
  const counters = yield* Counters;
  const now = yield* Clock.currentTimeMillis;
  const rules = [{ key: uniqueText(), limit: 100, durationMs: 60_000 }];
  return prefixed("Counters", {
    admit: counters.admit(rules, now),
    read: counters.read(rules, now),
  } satisfies OperationsOf<Counters["Service"]>);
});

/** Every operation of `Cache`. */
export const cacheOperations = Effect.gen(function* () {
  const cache = yield* Cache;
  const now = yield* Clock.currentTimeMillis;
  const key = uniqueText();
  return prefixed("Cache", {
    get: cache.get(key, now),
    set: cache.set(key, "value", now + 60_000),
    remove: cache.remove(key),
  } satisfies OperationsOf<Cache["Service"]>);
});

/** Every operation of `Signals`. */
export const signalsOperations = Effect.gen(function* () {
  const signals = yield* Signals;
  const topic = uniqueText();
  return prefixed("Signals", {
    publish: signals.publish(topic, "message"),
    subscribe: signals.subscribe(topic),
  } satisfies OperationsOf<Signals["Service"]>);
});
