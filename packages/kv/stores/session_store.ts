import { sightingsOf } from "@accountlink/core/addresses";
import { sightingRecords, storeSightings } from "@accountlink/core/alts";
import type { StoreEffect } from "@accountlink/core/errors";
import { completedSession, completionRefusal, endFlow, keptGame } from "@accountlink/core/flow";
import type { ChatId, KeyId, SessionId } from "@accountlink/core/ids";
import {
  type AdvanceSession,
  advancedSession,
  type CreateSession,
  type CreationBurst,
  canAdvance,
  type FlowCompleted,
  isFinal,
  isOpenAt,
  keptAdvance,
  keptCreation,
  type SessionAdvanced,
  type SessionCreated,
  SessionStore,
} from "@accountlink/core/sessions";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Data, Effect, Option } from "effect";
import { kvTable, txOf } from "../records.ts";
import { inSteps, itemsOf, removeInSteps, stepSize } from "../steps.ts";
import { table } from "../table.ts";
import { isBlocked } from "./blocks.ts";
import { keyedWrite } from "./idempotency_store.ts";
import { keys } from "./keys.ts";
import { removeLink } from "./link_store.ts";
import { findRecord, linkWriteKeys, takenByIn, writeGame } from "./links.ts";
import { purgeAll } from "./purges.ts";
import { scopeAt } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";
import {
  changeSession,
  endingVerifications,
  flows,
  type ManyVerifications,
  sessions,
} from "./verifications.ts";

/** When a key may again create a full burst of sessions. */
interface Burst {
  readonly key: KeyId;
  readonly fullAt: Millis;
}

/** A commit has no room for all links that the game user loses. The one of this chat user is removed before. */
class ManyTaken extends Data.TaggedError("ManyTaken")<{ readonly chatId: ChatId }> {}

export const bursts = table<Burst>()("burst", ({ key }) => [key], {});

export const layer = storeLayer(SessionStore, (db) => ({
  create: keyedWrite<SessionCreated, CreateSession>(
    db,
    keptCreation,
    ({ session }) => session.keyId,
    function* (tx, { session, burst, code }) {
      const { keyId, pid, clientId, redirect, createdAt } = session;
      assertStorable([clientId, redirect ?? "", code?.hash ?? "", code?.sealedSid ?? ""]);
      if ((yield* tx.get(keys, keyId)) === undefined) {
        throw new Error(`Cannot create a session of key "${keyId}", expected one that exists`);
      }
      const fullAt = (yield* tx.get(bursts, keyId))?.fullAt;
      const taken = burst && takeFromBurst(fullAt, burst, createdAt);
      if (taken !== null && "readyAt" in taken) return { _tag: "TooMany", readyAt: taken.readyAt };
      yield* scopeAt(tx, pid);
      if (code !== undefined && (yield* tx.list(sessions.byCode, [code.hash, 1])).length > 0) {
        return { _tag: "CodeTaken" };
      }
      if (taken !== null) yield* tx.put(bursts, { key: keyId, fullAt: taken.fullAt });
      if (!(yield* tx.create(sessions, { session, code, changedAt: null }))) {
        throw new Error("Cannot create a session: its id is taken, expected a new one");
      }
      return { _tag: "Created" };
    },
  ),

  find: (id) =>
    db.read(function* (tx) {
      return Option.fromUndefinedOr((yield* tx.get(sessions, id))?.session);
    }),

  knowsCode: (codeHash) =>
    db.read((tx) => Effect.map(tx.count(sessions.byCode, [codeHash]), (count) => count > 0)),

  findSealedSid: (codeHash, at) =>
    db.read(function* (tx) {
      const [found] = yield* tx.list(sessions.byCode, [codeHash, 1], { limit: 1 });
      return Option.fromUndefinedOr(
        found !== undefined && isOpenAt(found.session, at) ? found.code?.sealedSid : undefined,
      );
    }),

  changedSince: (at, among) =>
    db.read(function* (tx) {
      if (among === null) {
        return (yield* tx.list(sessions.changed, [], { from: [at] })).map(({ session }) => session.id);
      }
      const found = yield* tx.getAll(sessions, among, (id) => [id]);
      return among.filter((_, index) => (found[index]?.changedAt ?? -Infinity) >= at);
    }),

  advance: keyedWrite<Option.Option<SessionAdvanced>, AdvanceSession>(
    db,
    keptAdvance,
    ({ id }) => id,
    function* (tx, { id, to, at }) {
      const session = (yield* tx.get(sessions, id))?.session;
      if (session === undefined) return Option.none();
      if (!canAdvance(session, to, at)) return Option.some({ session, changed: false });
      const advanced = advancedSession(session, to);
      yield* changeSession(tx, advanced, at);
      return Option.some({ session: advanced, changed: true });
    },
  ),

  complete: (write) => {
    const complete = db.write<FlowCompleted, ManyVerifications | ManyTaken>(write.pid, function* (tx) {
      const { pid, chatId, gameId, at } = write;
      yield* tx.prefetch(linkWriteKeys(pid, chatId));
      const flow = yield* tx.get(flows, write.flow);
      const session =
        flow === undefined || flow.session === null
          ? undefined
          : (yield* tx.get(sessions, flow.session))?.session;
      const record = yield* findRecord(tx, pid, chatId);
      const takenBy = yield* takenByIn(tx, write);
      const refusal = completionRefusal(write, {
        flow,
        session,
        record,
        isBlocked: yield* isBlocked(tx, pid, write),
        takenBy,
      });
      if (refusal !== null) return refusal;
      const kept = keptGame(write, record);
      let linked = { gameId: kept ?? gameId, previousGameId: kept };
      if (kept === null) {
        yield* storeSightings(txOf(tx), pid, sightingsOf(write));
        for (const other of takenBy) yield* removeLink(tx, { ...write, chatId: other });
        linked = { gameId, previousGameId: (yield* writeGame(tx, write, write.proof)).previousGameId };
      }
      yield* endFlow(txOf(tx), write.flow);
      if (session !== undefined) yield* changeSession(tx, completedSession(session, write, linked), at);
      const [first] = takenBy;
      if (first !== undefined && !tx.hasRoom(0, 0)) return yield* new ManyTaken({ chatId: first });
      return { _tag: "Completed", ...linked };
    });
    const completed: StoreEffect<FlowCompleted> = Effect.suspend(() =>
      endingVerifications(db, write, complete).pipe(
        Effect.map(([done]) => done),
        Effect.catchTag("ManyTaken", ({ chatId }) => {
          const removal = db.write<unknown, ManyVerifications>(write.pid, (tx) =>
            removeLink(tx, { ...write, chatId }),
          );
          return Effect.andThen(endingVerifications(db, write, removal), completed);
        }),
      ),
    );
    return completed;
  },

  recordSightings: (pid, seen) =>
    Effect.forEach(
      Arr.chunksOf(seen, itemsOf(db, 25)),
      (part) => db.write(pid, (tx) => storeSightings(txOf(tx), pid, part)),
      { discard: true },
    ),

  sweep: ({ at, sessionsBefore, sightingsBefore }) =>
    Effect.gen(function* () {
      const ids = new Set<SessionId>();
      yield* inSteps(
        db,
        (tx) => tx.list(sessions.openByEnd, [], { before: [at + 1], limit: stepSize }),
        Effect.fnUntraced(function* (tx, { session: { id } }) {
          const session = (yield* tx.get(sessions, id))?.session;
          if (session === undefined || !canAdvance(session, "expired", at)) return false;
          yield* changeSession(tx, advancedSession(session, "expired"), at);
          ids.add(id);
          return true;
        }),
      );
      yield* removeInSteps(
        db,
        sessions.finalByEnd,
        [],
        { before: [sessionsBefore] },
        ({ session }) => session.expiresAt < sessionsBefore && isFinal(session.state),
      );
      yield* inSteps(
        db,
        (tx) => tx.list(flows.byEnd, [], { before: [at + 1], limit: stepSize }),
        Effect.fnUntraced(function* (tx, { id }) {
          const flow = yield* tx.get(flows, id);
          if (flow === undefined || flow.expiresAt > at) return false;
          yield* endFlow(txOf(tx), id);
          return true;
        }),
      );
      yield* removeInSteps(
        db,
        kvTable(sightingRecords).byTime,
        [],
        { before: [sightingsBefore] },
        ({ seenAt }) => seenAt < sightingsBefore,
      );
      yield* purgeAll(db);
      return [...ids];
    }),
}));

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
