import { sightingsOf } from "@accountlink/core/addresses";
import { completedSession, completionRefusal, keptGame } from "@accountlink/core/flow";
import {
  type AdvanceSession,
  advancedSession,
  type CreateSession,
  type CreationBurst,
  canAdvance,
  isFinal,
  isOpenAt,
  type SessionCreated,
  SessionStore,
} from "@accountlink/core/sessions";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option } from "effect";
import { isBlocked } from "./blocked_links.ts";
import { endFlow } from "./flow_store.ts";
import { setGame } from "./link_store.ts";
import { storeSightings } from "./sighting_store.ts";
import { keyedWrite, layerOf } from "./state.ts";

/** Finds a session by ID in O(1), and by its code by a scan. */
export const layer = layerOf(SessionStore, (memory) => {
  const { sessions } = memory;

  /** Finds the unfinished session whose code has this hash. */
  const findByCode = (codeHash: string) =>
    [...sessions.values()].find(({ session, code }) => code?.hash === codeHash && !isFinal(session.state));

  return {
    create: keyedWrite(memory, ({ session, burst, code }: CreateSession): SessionCreated => {
      const { id, keyId, pid, clientId, redirect, createdAt } = session;
      assertStorable([clientId, redirect ?? "", code?.hash ?? "", code?.sealedSid ?? ""]);
      if (!memory.keys.has(keyId)) {
        throw new Error(`Cannot create a session of key "${keyId}", expected one that exists`);
      }
      const taken = burst && takeFromBurst(memory.burstsFullAt.get(keyId), burst, createdAt);
      if (taken !== null && "readyAt" in taken) return { _tag: "TooMany", readyAt: taken.readyAt };
      memory.linksOf(pid);
      if (sessions.has(id)) {
        throw new Error("Cannot create a session: its id is taken, expected a new one");
      }
      if (code !== undefined && findByCode(code.hash) !== undefined) return { _tag: "CodeTaken" };
      if (taken !== null) memory.burstsFullAt.set(keyId, taken.fullAt);
      sessions.set(id, { session, code, changedAt: null });
      return { _tag: "Created" };
    }),

    find: (id) => Option.fromUndefinedOr(sessions.get(id)?.session),
    knowsCode: (codeHash) => [...sessions.values()].some(({ code }) => code?.hash === codeHash),
    findSealedSid: (codeHash, at) => {
      const found = findByCode(codeHash);
      return Option.fromUndefinedOr(found && isOpenAt(found.session, at) ? found.code?.sealedSid : undefined);
    },

    changedSince: (at, among) =>
      [...(among ?? sessions.keys())].filter((id) => (sessions.get(id)?.changedAt ?? -Infinity) >= at),

    advance: keyedWrite(memory, ({ id, to, at }: AdvanceSession) => {
      const session = sessions.get(id)?.session;
      if (session === undefined) return Option.none();
      if (!canAdvance(session, to, at)) return Option.some({ session, changed: false });
      const advanced = advancedSession(session, to);
      memory.changeSession(advanced, at);
      return Option.some({ session: advanced, changed: true });
    }),

    complete: (write) => {
      const { pid, chatId, gameId, at } = write;
      const flow = memory.flows.get(write.flow);
      const session = flow && flow.session !== null ? sessions.get(flow.session)?.session : undefined;
      const record = memory.links.get(pid)?.find(chatId);
      const refusal = completionRefusal(write, {
        flow,
        session,
        record,
        isBlocked: isBlocked(memory, pid, write),
      });
      if (refusal !== null) return refusal;
      const kept = keptGame(write, record);
      let linked = { gameId: kept ?? gameId, previousGameId: kept };
      if (kept === null) {
        storeSightings(memory, pid, sightingsOf(write));
        linked = { gameId, previousGameId: setGame(memory, write, write.proof).previousGameId };
      }
      endFlow(memory, write.flow);
      if (session !== undefined) memory.changeSession(completedSession(session, write, linked), at);
      return { _tag: "Completed", ...linked };
    },

    recordSightings: (pid, sightings) => storeSightings(memory, pid, sightings),

    sweep: ({ at, sessionsBefore, sightingsBefore }) => {
      const all = Array.from(sessions.values(), ({ session }) => session);
      const expired = all.filter((session) => canAdvance(session, "expired", at));
      for (const session of expired) memory.changeSession(advancedSession(session, "expired"), at);
      for (const [id, { session }] of sessions) {
        if (session.expiresAt < sessionsBefore && isFinal(session.state)) sessions.delete(id);
      }
      for (const flow of memory.flows.values()) if (flow.expiresAt <= at) endFlow(memory, flow.id);
      for (const [name, { sighting }] of memory.sightings) {
        if (sighting.seenAt < sightingsBefore) memory.sightings.delete(name);
      }
      return expired.map(({ id }) => id);
    },
  };
});

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
