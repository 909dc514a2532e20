import type { StoreUnavailable, VerificationSession } from "@accountlink/core";
import { sightingsOf } from "@accountlink/core/addresses";
import { newEvent, sessionEnded } from "@accountlink/core/events";
import { completedSession, completionRefusal, keptGame } from "@accountlink/core/flow";
import type { SessionId } from "@accountlink/core/ids";
import {
  type AdvanceSession,
  advancedSession,
  type CompleteFlow,
  type CreateSession,
  canAdvance,
  type FlowCompleted,
  isOpenAt,
  type SessionAdvanced,
  type SessionCreated,
  SessionStore,
  type SweepSessions,
  takeFromBurst,
} from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";
import { removeSighting, storeSightings } from "../alts/sightings.ts";
import { appendEvents } from "../events/append_events.ts";
import { endFlow } from "../flow/flow_store.ts";
import { requireScope } from "../keys/accounts.ts";
import { setGame } from "../links/link_writes.ts";
import { Database } from "../records/database.ts";
import { bursts, flows, keys, links, sessions, sightings } from "../records/schema.ts";
import { forget, inSteps, stepSize } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";

export const layer: Layer.Layer<SessionStore, never, Database> = Layer.effect(
  SessionStore,
  Effect.map(Database, (db) =>
    SessionStore.of({
      create: (write) => db.write("SessionStore.create", (tx) => create(tx, write)),
      find: (id) =>
        db.find("SessionStore.find", (tx) =>
          Effect.map(sessions.find(tx, id), (found) => Option.fromUndefinedOr(found?.session)),
        ),
      findSealedSid: (codeHash, at) =>
        db.read("SessionStore.findSealedSid", (tx) =>
          Effect.map(findByCode(tx, codeHash), (found) =>
            found?.code && isOpenAt(found.session, at) ? Option.some(found.code.sealedSid) : Option.none(),
          ),
        ),
      changedSince: (at, among) => db.read("SessionStore.changedSince", (tx) => changedSince(tx, at, among)),
      advance: (write) => db.write("SessionStore.advance", (tx) => advance(tx, write)),
      complete: (write) => db.write("SessionStore.complete", (tx) => complete(tx, write)),
      recordSightings: (pid, seen) =>
        db.write("SessionStore.recordSightings", (tx) => storeSightings(tx, pid, seen)),
      sweep: (times) => sweep(db, times),
    }),
  ),
);

const create = Effect.fnUntraced(function* (
  tx: Transaction,
  { session, burst, code }: CreateSession,
): Effect.fn.Return<SessionCreated, StoreUnavailable> {
  const { id, keyId, pid, createdAt } = session;
  if ((yield* keys.find(tx, keyId)) === undefined) {
    throw new Error(`Cannot create a session of key "${keyId}", expected one that exists`);
  }
  if (code !== undefined && (yield* findByCode(tx, code.hash)) !== undefined) return { _tag: "CodeTaken" };
  if (burst !== null) {
    const taken = takeFromBurst((yield* bursts.find(tx, keyId))?.fullAt, burst, createdAt);
    if ("readyAt" in taken) return { _tag: "TooMany", readyAt: taken.readyAt };
    yield* bursts.put(tx, { keyId, fullAt: taken.fullAt });
  }
  yield* requireScope(tx, pid);
  if ((yield* sessions.find(tx, id)) !== undefined) {
    throw new Error("Cannot create a session: its id is taken, expected a new one");
  }
  yield* sessions.put(tx, { session, changedAt: null, code: code ?? null });
  return { _tag: "Created" };
});

const findByCode = (tx: Transaction, hash: string) =>
  Effect.map(sessions.list(tx, "code", [hash], { limit: 1 }), ([found]) => found);

const changedSince = Effect.fnUntraced(function* (
  tx: Transaction,
  at: Millis,
  among: ReadonlyArray<SessionId> | null,
) {
  const found =
    among === null
      ? yield* sessions.list(tx, "changed", [], { after: [at - 1] })
      : yield* sessions.findAll(
          tx,
          among.map((id) => [id]),
        );
  return found
    .filter(({ changedAt }) => changedAt !== null && changedAt >= at)
    .map(({ session }) => session.id);
});

const advance = Effect.fnUntraced(function* (tx: Transaction, { id, to, at }: AdvanceSession) {
  const found = yield* sessions.find(tx, id);
  if (found === undefined) return Option.none<SessionAdvanced>();
  const { session } = found;
  if (!canAdvance(session, to, at)) return Option.some({ session, changed: false });
  const advanced = advancedSession(session, to);
  yield* sessions.put(tx, { ...found, session: advanced, changedAt: at });
  yield* appendEnd(tx, advanced, at);
  return Option.some({ session: advanced, changed: true });
});

const appendEnd = (tx: Transaction, session: VerificationSession, at: Millis) =>
  appendEvents(
    tx,
    session.pid,
    sessionEnded(session).map((end) => newEvent(at, end)),
  );

const complete = Effect.fnUntraced(function* (
  tx: Transaction,
  write: CompleteFlow,
): Effect.fn.Return<FlowCompleted, StoreUnavailable> {
  const { pid, chatId, at } = write;
  const flow = yield* flows.find(tx, write.flow);
  const sessionId = flow?.session ?? null;
  const stored = sessionId === null ? undefined : yield* sessions.find(tx, sessionId);
  const record = (yield* links.find(tx, pid, chatId))?.record;
  const refusal = completionRefusal(write, { flow, session: stored?.session, record });
  if (refusal !== null) return refusal;

  const kept = keptGame(write, record);
  const linked = kept === null ? yield* storeProof(tx, write) : { gameId: kept, previousGameId: kept };
  yield* endFlow(tx, write.flow);
  if (stored !== undefined) {
    const completed = completedSession(stored.session, write, linked);
    yield* sessions.put(tx, { ...stored, session: completed, changedAt: at });
    yield* appendEnd(tx, completed, at);
  }
  return { _tag: "Completed", ...linked };
});

const storeProof = Effect.fnUntraced(function* (tx: Transaction, write: CompleteFlow) {
  const { previousGameId } = yield* setGame(tx, write, "flow");
  yield* storeSightings(tx, write.pid, sightingsOf(write));
  return { gameId: write.gameId, previousGameId };
});

const sweep = Effect.fnUntraced(function* (
  db: Database["Service"],
  { at, sessionsBefore, sightingsBefore }: SweepSessions,
) {
  const name = "SessionStore.sweep";
  const expired = yield* inSteps(db, name, (tx) => expireSome(tx, at));
  yield* forget(db, name, sessions, ["deadline", "final"], (old) => old.session.expiresAt < sessionsBefore);
  yield* forget(
    db,
    name,
    flows,
    ["deadline"],
    ({ expiresAt }) => expiresAt <= at,
    (tx, { id }) => endFlow(tx, id),
  );
  yield* forget(
    db,
    name,
    sightings,
    ["seen"],
    ({ sighting }) => sighting.seenAt < sightingsBefore,
    (tx, { pid, sighting }) => removeSighting(tx, pid, sighting),
  );
  return expired;
});

const expireSome = Effect.fnUntraced(function* (tx: Transaction, at: Millis) {
  const next = yield* sessions.list(tx, "deadline", ["open"], { limit: stepSize });
  const expired = next.filter(({ session }) => canAdvance(session, "expired", at));
  for (const found of expired) {
    yield* sessions.put(tx, { ...found, session: advancedSession(found.session, "expired"), changedAt: at });
  }
  return expired.map(({ session }) => session.id);
});
