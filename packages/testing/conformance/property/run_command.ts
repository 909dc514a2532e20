/**
 * Runs commands against a store. Answers are comparable values: null for none, entries for a map,
 * and `refused` for a defect.
 */

import {
  type ApiKey,
  AuditLog,
  type DataScope,
  EventStore,
  type KeyId,
  LinkStore,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import type { FeedEvent } from "@accountlink/core/events";
import { FlowStore } from "@accountlink/core/flow";
import type { FlowId, SessionId } from "@accountlink/core/ids";
import { type KeyDetails, KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import {
  makeFlow,
  makeKey,
  makeSession,
  uniqueFlowId,
  uniqueKeyId,
  uniqueSessionId,
  uniqueText,
} from "../../mod.ts";
import { ada, bob, chess, dan, newWorld, origin, poker, storeWorld, type World } from "../world.ts";
import { type Command, hashCount, keyCount } from "./command.ts";
import { challengeCount, commandDeadline, flowCount, sessionCount } from "./verification_command.ts";

/** A world with the objects of commands, by index. */
export interface CommandWorld extends World {
  readonly keyIds: ReadonlyArray<KeyId>;
  readonly hashes: ReadonlyArray<string>;
  /** The key of the sessions, which no command changes. */
  readonly sessionKey: ApiKey;
  readonly sessionIds: ReadonlyArray<SessionId>;
  readonly flowIds: ReadonlyArray<FlowId>;
  readonly challenges: ReadonlyArray<string>;
}

/** A new world, not yet stored. */
export const newCommandWorld = (): CommandWorld => {
  const world = newWorld();
  return {
    ...world,
    keyIds: Array.from({ length: keyCount }, uniqueKeyId),
    hashes: Array.from({ length: hashCount }, uniqueText),
    sessionKey: makeKey(world.global),
    sessionIds: Array.from({ length: sessionCount }, uniqueSessionId),
    flowIds: Array.from({ length: flowCount }, uniqueFlowId),
    challenges: Array.from({ length: challengeCount }, uniqueText),
  };
};

export const storeCommandWorld = Effect.fnUntraced(function* (world: CommandWorld) {
  const keys = yield* KeyStore;
  yield* storeWorld(world);
  const key = world.sessionKey;
  yield* keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 0 });
});

export const runCommand = (
  world: CommandWorld,
  command: Command,
): Effect.Effect<unknown, StoreUnavailable, StoragePorts> => {
  const runner = runners[command.op] as Runner<Command>;
  return runner(world, command).pipe(
    Effect.map(plain),
    Effect.catchDefect(() => Effect.succeed("refused")),
  );
};

/** All state of a world that commands can change. */
export interface Observation {
  readonly scopes: ReadonlyArray<unknown>;
  readonly account: ReadonlyArray<unknown>;
  readonly keys: ReadonlyArray<ReadonlyArray<KeyDetails>>;
  readonly details: ReadonlyArray<unknown>;
  readonly secrets: ReadonlyArray<unknown>;
  readonly sessions: ReadonlyArray<unknown>;
  readonly changedSessions: ReadonlyArray<SessionId>;
  readonly flows: ReadonlyArray<unknown>;
  /** Newest first, without sequences, which differ between stores. */
  readonly entries: ReadonlyArray<Omit<AuditEntry, "sequence">>;
  readonly entriesOfAda: ReadonlyArray<unknown>;
}

export const observe = Effect.fnUntraced(function* (
  world: CommandWorld,
): Effect.fn.Return<Observation, StoreUnavailable, StoragePorts> {
  const [links, keys, log, feed] = [yield* LinkStore, yield* KeyStore, yield* AuditLog, yield* EventStore];
  const [sessions, flows] = [yield* SessionStore, yield* FlowStore];
  const observeScope = ({ pid }: DataScope) =>
    Effect.all([
      Effect.forEach(users, (chatId) => Effect.map(links.findByChatId(pid, chatId), plain)),
      Effect.map(links.findByChatIds(pid, users), plain),
      Effect.map(links.findGamesByChatIds(pid, users), plain),
      Effect.map(links.findByGameIds(pid, [chess, poker]), plain),
      Effect.forEach([1, 100], (limit) => links.exportPage(pid, null, limit)),
      Effect.forEach([1, 100], (limit) => links.newestPage(pid, null, limit)),
      links.countLinks(pid),
      links.countLinks(pid, { verified: { from: 0, before: dayMs } }),
      links.importPosition(pid),
      Effect.map(feed.readBack(pid, null, 1_000), happened),
    ]);
  const entries = yield* log.list(world.account.name, null, 1_000);
  return {
    scopes: yield* Effect.all([observeScope(world.global), observeScope(world.guild)]),
    account: yield* Effect.all([
      keys.findAccount(world.account.name),
      keys.countKeys(world.account.name),
      Effect.map(keys.acceptedAmong(world.keyIds, 1), (ids) => new Set(ids)),
    ]),
    keys: yield* Effect.forEach([0, 1, 2, 3], (at) => keys.listKeys(world.account.name, at)),
    details: yield* Effect.forEach(world.keyIds, (id) => Effect.map(keys.findDetails(id, 1), plain)),
    secrets: yield* Effect.forEach(world.hashes, (hash) => Effect.map(keys.findByHash(hash), plain)),
    sessions: yield* Effect.forEach(world.sessionIds, (id) => Effect.map(sessions.find(id), plain)),
    changedSessions: ownOf(world.sessionIds, yield* sessions.changedSince(0, world.sessionIds)),
    flows: yield* Effect.forEach(world.flowIds, (id) => Effect.map(flows.find(id, 0), plain)),
    entries: entries.map(({ sequence: _, ...entry }) => entry),
    entriesOfAda: (yield* log.list(world.account.name, null, 1_000, ofAda)).map(({ at, action }) => [
      at,
      action,
    ]),
  };
});

const users = [ada, bob, dan];

const isOfSession = ({ type }: FeedEvent) => type.startsWith("session.");

const said = ({ type, at, data }: FeedEvent) => [type, at, data] as const;

/** The events of a feed. Those of the sessions that one write ends have no order. */
const happened = (events: ReadonlyArray<FeedEvent>) => [
  events.filter((event) => !isOfSession(event)).map(said),
  new Set(events.filter(isOfSession).map(said)),
];

const ofAda = { action: null, keyId: null, chatId: ada };

const plain = (answer: unknown): unknown => {
  if (Option.isOption(answer)) return Option.getOrNull(answer);
  return answer instanceof Map
    ? [...answer].toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
    : answer;
};

type Runner<C extends Command> = (
  world: CommandWorld,
  command: C,
) => Effect.Effect<unknown, StoreUnavailable, StoragePorts>;

const askLinks = <A>(ask: (store: LinkStore["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
  Effect.flatMap(LinkStore, ask);

const askKeys = <A>(ask: (store: KeyStore["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
  Effect.flatMap(KeyStore, ask);

const askSessions = <A>(ask: (store: SessionStore["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
  Effect.flatMap(SessionStore, ask);

const askFlows = <A>(ask: (store: FlowStore["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
  Effect.flatMap(FlowStore, ask);

/** The IDs of a world that a store returned, in the order of the world. */
const ownOf = (own: ReadonlyArray<SessionId>, named: ReadonlyArray<SessionId>): ReadonlyArray<SessionId> =>
  own.filter((id) => named.includes(id));

const runners: { readonly [Op in Command["op"]]: Runner<Extract<Command, { readonly op: Op }>> } = {
  findByChatId: (world, { scope, chatId }) =>
    askLinks((store) => store.findByChatId(world[scope].pid, chatId)),
  findByChatIds: (world, { scope, chatIds }) =>
    askLinks((store) => store.findByChatIds(world[scope].pid, chatIds)),
  findGamesByChatIds: (world, { scope, chatIds }) =>
    askLinks((store) => store.findGamesByChatIds(world[scope].pid, chatIds)),
  findByGameIds: (world, { scope, gameIds }) =>
    askLinks((store) => store.findByGameIds(world[scope].pid, gameIds)),
  exportPage: (world, { scope, after, limit }) =>
    askLinks((store) => store.exportPage(world[scope].pid, after, limit)),

  setGame: (world, { scope, chatId, gameId, at }) =>
    askLinks((store) => store.setGame({ ...origin, pid: world[scope].pid, at, chatId, gameId })),
  moveChat: (world, { scope, oldChatId, newChatId, at }) =>
    askLinks((store) => store.moveChat({ ...origin, pid: world[scope].pid, at, oldChatId, newChatId })),
  removeGame: (world, { scope, chatId, at }) =>
    Effect.map(
      askLinks((store) => store.removeGame({ ...origin, pid: world[scope].pid, at, chatId })),
      Option.map(({ gameId, ended }) => ({ gameId, ended: ownOf(world.sessionIds, ended) })),
    ),
  deleteScope: (world, { scope, at }) =>
    Effect.map(
      askLinks((store) => store.deleteScope({ ...origin, pid: world[scope].pid, at })),
      ({ records, ended }) => ({ records, ended: ownOf(world.sessionIds, ended) }),
    ),
  importBatch: (world, { scope, links, existing, position, at }) => {
    const { pid } = world[scope];
    const progress = position === null ? null : { source: pid, position };
    return askLinks((store) => store.importBatch({ ...origin, pid, at, links, existing, progress }));
  },

  findByHash: (world, { hash }) => askKeys((store) => store.findByHash(hashOf(world, hash))),
  findById: (world, { key }) => askKeys((store) => store.findById(idOf(world, key))),
  findDetails: (world, { key, at }) => askKeys((store) => store.findDetails(idOf(world, key), at)),
  listKeys: (world, { at }) => askKeys((store) => store.listKeys(world.account.name, at)),
  insertKey: (world, { scope, key, hash, parts, maxKeys }) => {
    const inserted = makeKey(world[scope], { ...parts, id: idOf(world, key) });
    const write = { ...origin, key: inserted, hash: hashOf(world, hash), maxKeys, at: parts.createdAt };
    return askKeys((store) => store.insertKey(write));
  },
  rotateKey: (world, { key, hash, at, previousUntil }) =>
    askKeys((store) =>
      store.rotateKey({ ...origin, id: idOf(world, key), hash: hashOf(world, hash), at, previousUntil }),
    ),
  updateKey: (world, { key, update, at }) =>
    askKeys((store) => store.updateKey({ ...origin, id: idOf(world, key), update, at })),
  updateAccount: (world, { update, at }) =>
    Effect.map(
      askKeys((store) => store.updateAccount({ ...origin, name: world.account.name, update, at })),
      Option.map(({ changed, keys }) => ({ changed, keys: world.keyIds.filter((id) => keys.includes(id)) })),
    ),

  createSession: (world, { session, scope, chatId, isLimited, at }) => {
    const { pid } = world[scope];
    const parts = { id: sessionOf(world, session), pid, chatId, createdAt: at, expiresAt: commandDeadline };
    const write = { session: makeSession(world.sessionKey, parts), burst: isLimited ? burst : null };
    return askSessions((store) => store.create(write));
  },
  findSession: (world, { session }) => askSessions((store) => store.find(sessionOf(world, session))),
  changedSince: (world, { at, sessions }) => {
    const among = sessions?.map((session) => sessionOf(world, session)) ?? null;
    return Effect.map(
      askSessions((store) => store.changedSince(at, among)),
      (ids) => ownOf(world.sessionIds, ids),
    );
  },
  advance: (world, { session, to, at }) =>
    askSessions((store) => store.advance({ id: sessionOf(world, session), to, at })),
  complete: (world, { scope, flow, chatId, gameId, keeps, at }) => {
    const { pid } = world[scope];
    const write = {
      ...origin,
      pid,
      at,
      flow: flowOf(world, flow),
      chatId,
      gameId,
      address,
      browser: "browser",
      keeps,
    };
    return askSessions((store) => store.complete(write));
  },
  sweep: (world, { at, sessionsBefore }) =>
    Effect.map(
      askSessions((store) => store.sweep({ at, sessionsBefore, sightingsBefore: at })),
      (ids) => ownOf(world.sessionIds, ids),
    ),

  beginFlow: (world, { flow, session, scope }) => {
    const sessionId = session === null ? null : sessionOf(world, session);
    const parts = { id: flowOf(world, flow), session: sessionId, expiresAt: commandDeadline };
    return askFlows((store) => store.begin(makeFlow(world[scope], parts)));
  },
  findFlow: (world, { flow, at }) => askFlows((store) => store.find(flowOf(world, flow), at)),
  endFlow: (world, { flow }) => askFlows((store) => store.end(flowOf(world, flow))),
  challenge: (world, { flow, challenge, expiresAt }) => {
    const [id, stateHash] = [flowOf(world, flow), stateHashOf(world, challenge)];
    const kept = { stateHash, flow: id, step: "chat", expiresAt } as const;
    return askFlows((store) => store.challenge(kept));
  },
  takeChallenge: (world, { flow, challenge, at }) =>
    askFlows((store) => store.takeChallenge(flowOf(world, flow), stateHashOf(world, challenge), at)),
  prove: (world, { flow, proof, at, nextFlow }) =>
    askFlows((store) => store.prove(flowOf(world, flow), proof, at, flowOf(world, nextFlow))),
};

const burst = { capacity: 2, refillMs: 1 };

const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };

const sessionOf = (world: CommandWorld, index: number): SessionId => world.sessionIds[index] as SessionId;

const flowOf = (world: CommandWorld, index: number): FlowId => world.flowIds[index] as FlowId;

const stateHashOf = (world: CommandWorld, index: number): string => world.challenges[index] as string;

const idOf = (world: CommandWorld, index: number): KeyId => world.keyIds[index] as KeyId;

const hashOf = (world: CommandWorld, index: number): string => world.hashes[index] as string;
