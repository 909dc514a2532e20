import { placeOf, sightingsOf, textsOf } from "@accountlink/core/addresses";
import { newEvent, sessionEnded } from "@accountlink/core/events";
import { completedSession, completionRefusal, keptGame } from "@accountlink/core/flow";
import type { SessionId } from "@accountlink/core/ids";
import {
  type AdvanceSession,
  advancedSession,
  type CompleteFlow,
  type CreateSession,
  type CreationBurst,
  canAdvance,
  type FlowCompleted,
  isOpenAt,
  type SessionAdvanced,
  type SessionCreated,
  SessionStore,
  type SweepSessions,
} from "@accountlink/core/sessions";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option } from "effect";
import { endFlow } from "./flow_store.ts";
import { setGame } from "./set_game.ts";
import { storeSightings } from "./sighting_store.ts";
import { layerOf, type Memory } from "./state/state.ts";

/** Finds a session by ID in O(1). Ending sessions scans all unfinished ones, and deleting old sessions scans all. */
export const layer = layerOf(SessionStore, (memory) => ({
  create: (write) => create(memory, write),
  find: (id) => Option.fromUndefinedOr(memory.sessions.find(id)),
  knowsCode: (codeHash) => memory.sessions.knowsCode(codeHash),
  findSealedSid: (codeHash, at) => {
    const found = memory.sessions.findByCode(codeHash);
    return found !== undefined && isOpenAt(found.session, at) ? Option.some(found.sealedSid) : Option.none();
  },
  changedSince: (at, among) => memory.sessions.changedSince(at, among),
  advance: (write) => advance(memory, write),
  complete: (write) => complete(memory, write),
  recordSightings: (pid, sightings) => storeSightings(memory, pid, sightings),
  sweep: (times) => sweep(memory, times),
}));

const create = (memory: Memory, { session, burst, code }: CreateSession): SessionCreated => {
  const { id, keyId, pid, clientId, redirect, createdAt } = session;
  assertStorable([clientId, redirect ?? "", code?.hash ?? "", code?.sealedSid ?? ""]);
  if (!memory.keys.has(keyId)) {
    throw new Error(`Cannot create a session of key "${keyId}", expected one that exists`);
  }
  const taken = burst && takeFromBurst(memory.burstsFullAt.get(keyId), burst, createdAt);
  if (taken !== null && "readyAt" in taken) return { _tag: "TooMany", readyAt: taken.readyAt };
  memory.linksOf(pid);
  if (memory.sessions.find(id) !== undefined) {
    throw new Error("Cannot create a session: its id is taken, expected a new one");
  }
  if (code !== undefined && memory.sessions.findByCode(code.hash) !== undefined) return { _tag: "CodeTaken" };
  if (taken !== null) memory.burstsFullAt.set(keyId, taken.fullAt);
  memory.sessions.add(session, code);
  return { _tag: "Created" };
};

const advance = (memory: Memory, { id, to, at }: AdvanceSession): Option.Option<SessionAdvanced> => {
  const session = memory.sessions.find(id);
  if (session === undefined) return Option.none();
  if (!canAdvance(session, to, at)) return Option.some({ session, changed: false });

  const advanced = advancedSession(session, to);
  memory.sessions.change(advanced, at);
  memory.append(session.pid, ...sessionEnded(advanced).map((end) => newEvent(at, end)));
  return Option.some({ session: advanced, changed: true });
};

const complete = (memory: Memory, write: CompleteFlow): FlowCompleted => {
  const { pid, chatId, at } = write;
  const flow = memory.flows.get(write.flow);
  const sessionId = flow?.session ?? null;
  const session = sessionId === null ? undefined : memory.sessions.find(sessionId);
  const record = memory.links.get(pid)?.find(chatId);
  const refusal = completionRefusal(write, { flow, session, record });
  if (refusal !== null) return refusal;

  const kept = keptGame(write, record);
  const linked = kept === null ? storeProof(memory, write) : { gameId: kept, previousGameId: kept };
  endFlow(memory, write.flow);
  if (session !== undefined) {
    const completed = completedSession(session, write, linked);
    memory.sessions.change(completed, at);
    memory.append(pid, ...sessionEnded(completed).map((end) => newEvent(at, end)));
  }
  return { _tag: "Completed", ...linked };
};

const storeProof = (memory: Memory, write: CompleteFlow) => {
  const seen = sightingsOf(write);
  assertStorable(seen.flatMap(textsOf));
  const { previousGameId } = setGame(memory, write, "flow");
  storeSightings(memory, write.pid, seen);
  return { gameId: write.gameId, previousGameId };
};

const sweep = (
  memory: Memory,
  { at, sessionsBefore, sightingsBefore }: SweepSessions,
): ReadonlyArray<SessionId> => {
  const expired = memory.sessions.unfinished((session) => canAdvance(session, "expired", at));
  for (const { id } of expired) advance(memory, { id, to: "expired", at });
  memory.sessions.forget(sessionsBefore);
  for (const flow of memory.flows.values()) if (flow.expiresAt <= at) endFlow(memory, flow.id);
  forgetSightings(memory, sightingsBefore);
  return expired.map(({ id }) => id);
};

const forgetSightings = (memory: Memory, before: Millis): void => {
  for (const sightings of memory.sightings.values()) {
    for (const sighting of sightings.all()) {
      if (sighting.seenAt < before) sightings.remove(sighting.chatId, placeOf(sighting));
    }
  }
};

/**
 * Takes one creation from a key's token bucket. A bucket is stored as the time at which it is full again.
 *
 * @param fullAt when the bucket is full again; undefined for a key without sessions
 * @returns when the bucket is full again after this creation; or, if it is empty, when the next session can be created
 */
const takeFromBurst = (
  fullAt: Millis | undefined,
  { capacity, refillMs }: CreationBurst,
  at: Millis,
): { readonly fullAt: Millis } | { readonly readyAt: Millis } => {
  const from = Math.max(fullAt ?? at, at);
  const readyAt = from - (capacity - 1) * refillMs;
  return readyAt > at ? { readyAt } : { fullAt: from + refillMs };
};
