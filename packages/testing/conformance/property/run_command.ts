/**
 * Runs commands against a store. Converts answers to comparable values: an absent value becomes null, a map becomes
 * sorted entries, and a defect becomes `refused`.
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
import { ada, bob, chess, dan, newScopes, origin, poker, type Scopes, storeScopes } from "../scopes.ts";
import { type Command, hashCount, keyCount } from "./command.ts";
import { challengeCount, commandDeadline, flowCount, sessionCount } from "./verification_command.ts";

/** Scopes with the keys, sessions, flows and challenges that commands refer to by index. */
export interface CommandSubjects extends Scopes {
  readonly keyIds: ReadonlyArray<KeyId>;
  readonly hashes: ReadonlyArray<string>;
  /** The key that owns the sessions. No command changes this key. */
  readonly sessionKey: ApiKey;
  readonly sessionIds: ReadonlyArray<SessionId>;
  readonly flowIds: ReadonlyArray<FlowId>;
  readonly challenges: ReadonlyArray<string>;
}

/** Makes the scopes, keys, sessions and other subjects of random commands, without storing them. */
export const newSubjects = (): CommandSubjects => {
  const subjects = newScopes();
  return {
    ...subjects,
    keyIds: Array.from({ length: keyCount }, uniqueKeyId),
    hashes: Array.from({ length: hashCount }, uniqueText),
    sessionKey: makeKey(subjects.global),
    sessionIds: Array.from({ length: sessionCount }, uniqueSessionId),
    flowIds: Array.from({ length: flowCount }, uniqueFlowId),
    challenges: Array.from({ length: challengeCount }, uniqueText),
  };
};

export const storeSubjects = Effect.fnUntraced(function* (subjects: CommandSubjects) {
  const keys = yield* KeyStore;
  yield* storeScopes(subjects);
  const key = subjects.sessionKey;
  yield* keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 0 });
});

export const runCommand = (
  subjects: CommandSubjects,
  command: Command,
): Effect.Effect<unknown, StoreUnavailable, StoragePorts> => {
  const runner = runners[command.op] as Runner<Command>;
  return runner(subjects, command).pipe(
    Effect.map(plain),
    Effect.catchDefect(() => Effect.succeed("refused")),
  );
};

/** The stored state that is compared after the commands. */
export interface Observation {
  readonly scopes: ReadonlyArray<unknown>;
  readonly account: ReadonlyArray<unknown>;
  readonly keys: ReadonlyArray<ReadonlyArray<KeyDetails>>;
  readonly details: ReadonlyArray<unknown>;
  readonly secrets: ReadonlyArray<unknown>;
  readonly sessions: ReadonlyArray<unknown>;
  readonly changedSessions: ReadonlyArray<SessionId>;
  readonly flows: ReadonlyArray<unknown>;
  /** The audit entries, newest first, without sequence numbers, because these differ between stores. */
  readonly entries: ReadonlyArray<Omit<AuditEntry, "sequence">>;
  readonly entriesOfAda: ReadonlyArray<unknown>;
}

export const observe = Effect.fnUntraced(function* (
  subjects: CommandSubjects,
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
      Effect.forEach(positions, (position) => links.newestPage(pid, position, 1)),
      Effect.forEach(positions, (position) => links.newestPage(pid, position, 2, "newer")),
      links.countLinks(pid),
      links.countLinks(pid, { verified: { from: 0, before: dayMs } }),
      links.importPosition(pid),
      Effect.map(feed.readBack(pid, null, 1_000), happened),
    ]);
  const entries = yield* log.list(subjects.account.name, null, 1_000);
  return {
    scopes: yield* Effect.all([observeScope(subjects.global), observeScope(subjects.guild)]),
    account: yield* Effect.all([
      keys.findAccount(subjects.account.name),
      keys.countKeys(subjects.account.name),
      Effect.map(keys.acceptedAmong(subjects.keyIds, 1), (ids) => new Set(ids)),
    ]),
    keys: yield* Effect.forEach([0, 1, 2, 3], (at) => keys.listKeys(subjects.account.name, at)),
    details: yield* Effect.forEach(subjects.keyIds, (id) => Effect.map(keys.findDetails(id, 1), plain)),
    secrets: yield* Effect.forEach(subjects.hashes, (hash) => Effect.map(keys.findByHash(hash), plain)),
    sessions: yield* Effect.forEach(subjects.sessionIds, (id) => Effect.map(sessions.find(id), plain)),
    changedSessions: ownOf(subjects.sessionIds, yield* sessions.changedSince(0, subjects.sessionIds)),
    flows: yield* Effect.forEach(subjects.flowIds, (id) => Effect.map(flows.find(id, 0), plain)),
    entries: entries.map(({ sequence: _, ...entry }) => entry),
    entriesOfAda: (yield* log.list(subjects.account.name, null, 1_000, ofAda)).map(({ at, action }) => [
      at,
      action,
    ]),
  };
});

const users = [ada, bob, dan];

const positions = [0, 1, 2].flatMap((lastVerifiedAt) => users.map((chatId) => ({ lastVerifiedAt, chatId })));

const isOfSession = ({ type }: FeedEvent) => type.startsWith("session.");

const said = ({ type, at, data }: FeedEvent) => [type, at, data] as const;

/**
 * Converts the events of a feed to comparable values. Session events become a set, since one write may end several
 * sessions in any order.
 */
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
  subjects: CommandSubjects,
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

/** Omits the sessions of other runs, and sorts the rest, because a store may return sessions in any order. */
const ownOf = (own: ReadonlyArray<SessionId>, named: ReadonlyArray<SessionId>): ReadonlyArray<SessionId> =>
  own.filter((id) => named.includes(id));

const runners: { readonly [Op in Command["op"]]: Runner<Extract<Command, { readonly op: Op }>> } = {
  findByChatId: (subjects, { scope, chatId }) =>
    askLinks((store) => store.findByChatId(subjects[scope].pid, chatId)),
  findByChatIds: (subjects, { scope, chatIds }) =>
    askLinks((store) => store.findByChatIds(subjects[scope].pid, chatIds)),
  findGamesByChatIds: (subjects, { scope, chatIds }) =>
    askLinks((store) => store.findGamesByChatIds(subjects[scope].pid, chatIds)),
  findByGameIds: (subjects, { scope, gameIds }) =>
    askLinks((store) => store.findByGameIds(subjects[scope].pid, gameIds)),
  exportPage: (subjects, { scope, after, limit }) =>
    askLinks((store) => store.exportPage(subjects[scope].pid, after, limit)),

  setGame: (subjects, { scope, chatId, gameId, at }) =>
    askLinks((store) => store.setGame({ ...origin, pid: subjects[scope].pid, at, chatId, gameId })),
  moveChat: (subjects, { scope, oldChatId, newChatId, at }) =>
    askLinks((store) => store.moveChat({ ...origin, pid: subjects[scope].pid, at, oldChatId, newChatId })),
  removeGame: (subjects, { scope, chatId, at }) =>
    Effect.map(
      askLinks((store) => store.removeGame({ ...origin, pid: subjects[scope].pid, at, chatId })),
      Option.map(({ gameId, ended }) => ({ gameId, ended: ownOf(subjects.sessionIds, ended) })),
    ),
  deleteScope: (subjects, { scope, at }) =>
    Effect.map(
      askLinks((store) => store.deleteScope({ ...origin, pid: subjects[scope].pid, at })),
      ({ records, ended }) => ({ records, ended: ownOf(subjects.sessionIds, ended) }),
    ),
  importBatch: (subjects, { scope, links, existing, position, at }) => {
    const { pid } = subjects[scope];
    const progress = position === null ? null : { source: pid, position };
    return askLinks((store) => store.importBatch({ ...origin, pid, at, links, existing, progress }));
  },

  findByHash: (subjects, { hash }) => askKeys((store) => store.findByHash(hashOf(subjects, hash))),
  findById: (subjects, { key }) => askKeys((store) => store.findById(idOf(subjects, key))),
  findDetails: (subjects, { key, at }) => askKeys((store) => store.findDetails(idOf(subjects, key), at)),
  listKeys: (subjects, { at }) => askKeys((store) => store.listKeys(subjects.account.name, at)),
  insertKey: (subjects, { scope, key, hash, parts, maxKeys }) => {
    const inserted = makeKey(subjects[scope], { ...parts, id: idOf(subjects, key) });
    const write = { ...origin, key: inserted, hash: hashOf(subjects, hash), maxKeys, at: parts.createdAt };
    return askKeys((store) => store.insertKey(write));
  },
  rotateKey: (subjects, { key, hash, at, previousUntil }) =>
    askKeys((store) =>
      store.rotateKey({
        ...origin,
        id: idOf(subjects, key),
        hash: hashOf(subjects, hash),
        at,
        previousUntil,
      }),
    ),
  updateKey: (subjects, { key, update, at }) =>
    askKeys((store) => store.updateKey({ ...origin, id: idOf(subjects, key), update, at })),
  updateAccount: (subjects, { update, at }) =>
    Effect.map(
      askKeys((store) => store.updateAccount({ ...origin, name: subjects.account.name, update, at })),
      Option.map(({ changed, keys }) => ({
        changed,
        keys: subjects.keyIds.filter((id) => keys.includes(id)),
      })),
    ),

  createSession: (subjects, { session, scope, chatId, isLimited, at }) => {
    const { pid } = subjects[scope];
    const parts = {
      id: sessionOf(subjects, session),
      pid,
      chatId,
      createdAt: at,
      expiresAt: commandDeadline,
    };
    const write = { session: makeSession(subjects.sessionKey, parts), burst: isLimited ? burst : null };
    return askSessions((store) => store.create(write));
  },
  findSession: (subjects, { session }) => askSessions((store) => store.find(sessionOf(subjects, session))),
  changedSince: (subjects, { at, sessions }) => {
    const among = sessions?.map((session) => sessionOf(subjects, session)) ?? null;
    return Effect.map(
      askSessions((store) => store.changedSince(at, among)),
      (ids) => ownOf(subjects.sessionIds, ids),
    );
  },
  advance: (subjects, { session, to, at }) =>
    askSessions((store) => store.advance({ id: sessionOf(subjects, session), to, at })),
  complete: (subjects, { scope, flow, chatId, gameId, keeps, at }) => {
    const { pid } = subjects[scope];
    const write = {
      actor: { type: "user", id: chatId },
      requestId: null,
      pid,
      at,
      flow: flowOf(subjects, flow),
      chatId,
      gameId,
      address,
      browser: "browser",
      keeps,
    } as const;
    return askSessions((store) => store.complete(write));
  },
  sweep: (subjects, { at, sessionsBefore }) =>
    Effect.map(
      askSessions((store) => store.sweep({ at, sessionsBefore, sightingsBefore: at })),
      (ids) => ownOf(subjects.sessionIds, ids),
    ),

  beginFlow: (subjects, { flow, session, scope }) => {
    const sessionId = session === null ? null : sessionOf(subjects, session);
    const parts = { id: flowOf(subjects, flow), session: sessionId, expiresAt: commandDeadline };
    return askFlows((store) => store.begin(makeFlow(subjects[scope], parts)));
  },
  findFlow: (subjects, { flow, at }) => askFlows((store) => store.find(flowOf(subjects, flow), at)),
  endFlow: (subjects, { flow }) => askFlows((store) => store.end(flowOf(subjects, flow))),
  challenge: (subjects, { flow, challenge, expiresAt }) => {
    const [id, stateHash] = [flowOf(subjects, flow), stateHashOf(subjects, challenge)];
    const kept = { stateHash, flow: id, step: "chat", expiresAt } as const;
    return askFlows((store) => store.challenge(kept));
  },
  takeChallenge: (subjects, { flow, challenge, at }) =>
    askFlows((store) => store.takeChallenge(flowOf(subjects, flow), stateHashOf(subjects, challenge), at)),
  prove: (subjects, { flow, proof, at, nextFlow }) =>
    askFlows((store) => store.prove(flowOf(subjects, flow), proof, at, flowOf(subjects, nextFlow))),
};

const burst = { capacity: 2, refillMs: 1 };

const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };

const sessionOf = (subjects: CommandSubjects, index: number): SessionId =>
  subjects.sessionIds[index] as SessionId;

const flowOf = (subjects: CommandSubjects, index: number): FlowId => subjects.flowIds[index] as FlowId;

const stateHashOf = (subjects: CommandSubjects, index: number): string =>
  subjects.challenges[index] as string;

const idOf = (subjects: CommandSubjects, index: number): KeyId => subjects.keyIds[index] as KeyId;

const hashOf = (subjects: CommandSubjects, index: number): string => subjects.hashes[index] as string;
