/**
 * Runs commands against a store. Answers are plain values that can be compared: null for none, entries for a map, and
 * `refused` for a defect, which the port's rules make of some commands.
 */
import {
  type ApiKey,
  type AuditEntry,
  AuditLog,
  type DataScope,
  type KeyId,
  KeyStore,
  LinkStore,
  type StoreUnavailable,
} from "@accountlink/core";
import { Effect, Option } from "effect";
import { type Command, hashCount, keyCount } from "./command.ts";
import type { Storage } from "./internal/storage.ts";
import {
  ada,
  bob,
  chess,
  cyd,
  makeKey,
  newWorld,
  origin,
  poker,
  uniqueKeyId,
  uniqueText,
  type World,
} from "./world.ts";

/** A world with what commands name by numbers. */
export interface CommandWorld extends World {
  readonly keyIds: ReadonlyArray<KeyId>;
  readonly hashes: ReadonlyArray<string>;
}

/** A new world, which no store knows yet. */
export const newCommandWorld = (): CommandWorld => ({
  ...newWorld(),
  keyIds: Array.from({ length: keyCount }, uniqueKeyId),
  hashes: Array.from({ length: hashCount }, uniqueText),
});

/** Runs one command in the world and gives its answer. */
export const runCommand = (
  world: CommandWorld,
  command: Command,
): Effect.Effect<unknown, StoreUnavailable, LinkStore | KeyStore> => {
  const runner = runners[command.op] as Runner<Command>;
  return runner(world, command).pipe(
    Effect.map(plain),
    Effect.catchDefect(() => Effect.succeed("refused")),
  );
};

/** Everything of a world that can be read: what its commands may have changed. */
export interface Observation {
  readonly scopes: ReadonlyArray<unknown>;
  readonly keys: ReadonlyArray<ApiKey>;
  readonly secrets: ReadonlyArray<unknown>;
  /** Newest first, without their sequences, which are each store's own. */
  readonly entries: ReadonlyArray<Omit<AuditEntry, "sequence">>;
}

/** Reads everything of the world. */
export const observe = Effect.fnUntraced(function* (
  world: CommandWorld,
): Effect.fn.Return<Observation, StoreUnavailable, Storage> {
  const [links, keys, log] = [yield* LinkStore, yield* KeyStore, yield* AuditLog];
  const observeScope = ({ pid }: DataScope) =>
    Effect.all([
      Effect.map(links.findByChatIds(pid, [ada, bob, cyd]), plain),
      Effect.map(links.findByGameIds(pid, [chess, poker]), plain),
      links.exportPage(pid, null, 100),
      links.importPosition(pid),
    ]);
  const entries = yield* log.list(world.account.name, null, 1_000);
  return {
    scopes: yield* Effect.all([observeScope(world.global), observeScope(world.guild)]),
    keys: yield* keys.listKeys(world.account.name),
    secrets: yield* Effect.forEach(world.hashes, (hash) => Effect.map(keys.findByHash(hash), plain)),
    entries: entries.map(({ sequence: _, ...entry }) => entry),
  };
});

const plain = (answer: unknown): unknown => {
  if (Option.isOption(answer)) return Option.getOrNull(answer);
  return answer instanceof Map
    ? [...answer].toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
    : answer;
};

type Runner<C extends Command> = (
  world: CommandWorld,
  command: C,
) => Effect.Effect<unknown, StoreUnavailable, LinkStore | KeyStore>;

const askLinks = <A>(ask: (store: LinkStore["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
  Effect.flatMap(LinkStore, ask);

const askKeys = <A>(ask: (store: KeyStore["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
  Effect.flatMap(KeyStore, ask);

const runners: { readonly [Op in Command["op"]]: Runner<Extract<Command, { readonly op: Op }>> } = {
  findByChatId: (world, { scope, chatId }) =>
    askLinks((store) => store.findByChatId(world[scope].pid, chatId)),
  findByChatIds: (world, { scope, chatIds }) =>
    askLinks((store) => store.findByChatIds(world[scope].pid, chatIds)),
  findByGameIds: (world, { scope, gameIds }) =>
    askLinks((store) => store.findByGameIds(world[scope].pid, gameIds)),
  exportPage: (world, { scope, after, limit }) =>
    askLinks((store) => store.exportPage(world[scope].pid, after, limit)),

  setGame: (world, { scope, chatId, gameId, at }) =>
    askLinks((store) => store.setGame({ ...origin, pid: world[scope].pid, at, chatId, gameId })),
  moveChat: (world, { scope, oldChatId, newChatId, at }) =>
    askLinks((store) => store.moveChat({ ...origin, pid: world[scope].pid, at, oldChatId, newChatId })),
  removeGame: (world, { scope, chatId, at }) =>
    askLinks((store) => store.removeGame({ ...origin, pid: world[scope].pid, at, chatId })),
  deleteScope: (world, { scope, at }) =>
    askLinks((store) => store.deleteScope({ ...origin, pid: world[scope].pid, at })),
  importBatch: (world, { scope, links, existing, position, at }) => {
    const { pid } = world[scope];
    const progress = position === null ? null : { source: pid, position };
    return askLinks((store) => store.importBatch({ ...origin, pid, at, links, existing, progress }));
  },

  findByHash: (world, { hash }) => askKeys((store) => store.findByHash(hashOf(world, hash))),
  findById: (world, { key }) => askKeys((store) => store.findById(idOf(world, key))),
  listKeys: (world) => askKeys((store) => store.listKeys(world.account.name)),
  insertKey: (world, { scope, key, hash, parts, maxKeys }) => {
    const inserted = makeKey(world[scope], { ...parts, id: idOf(world, key) });
    const write = { ...origin, key: inserted, hash: hashOf(world, hash), maxKeys, at: parts.createdAt };
    return askKeys((store) => store.insertKey(write));
  },
  rotateKey: (world, { key, hash, at, previousUntil }) =>
    askKeys((store) =>
      store.rotateKey({ ...origin, id: idOf(world, key), hash: hashOf(world, hash), at, previousUntil }),
    ),
  setKeyStatus: (world, { key, status, at }) =>
    askKeys((store) =>
      store.setKeyStatus({ ...origin, id: idOf(world, key), status, at, action: "key.status_changed" }),
    ),
};

const idOf = (world: CommandWorld, index: number): KeyId => world.keyIds[index] as KeyId;

const hashOf = (world: CommandWorld, index: number): string => world.hashes[index] as string;
