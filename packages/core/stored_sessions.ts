/** Verification sessions in any storage. Each storage completes flows by itself, because links are no records. */
import { Array as Arr, Effect, Option } from "effect";
import { sightingRecords, storeSightings } from "./alts/sighting_store.ts";
import type { StoreUnavailable } from "./errors.ts";
import { endFlows, verificationFlows } from "./flow/flow_store.ts";
import type { FlowId, KeyId, SessionId } from "./ids.ts";
import { sessionEnded } from "./journal/changes.ts";
import { keysOfAll, recordStore, type Tx } from "./records/records.ts";
import {
  type AdvanceSession,
  advancedSession,
  type CreateSession,
  type CreationBurst,
  canAdvance,
  isOpenAt,
  keptAdvance,
  keptCreation,
  type SessionAdvanced,
  type SessionCreated,
  type SessionRecord,
  SessionStore,
  sessionBursts,
  sessionOf,
  verificationSessions,
} from "./sessions/session_store.ts";
import { clockTolerance, type Millis } from "./timestamp.ts";

/** Stores a changed session, and appends the event of its end. @internal */
export const changeSession = Effect.fnUntraced(function* (tx: Tx, session: SessionRecord, at: Millis) {
  yield* tx.put(verificationSessions, { ...session, changedAt: at });
  yield* tx.tell(session.pid, sessionEnded(session, at));
});

/** Reads a flow and its session. @internal */
export const findFlow = Effect.fnUntraced(function* (tx: Tx, id: FlowId) {
  const flow = yield* tx.get(verificationFlows, id);
  const session = flow?.session ? yield* tx.get(verificationSessions, flow.session) : undefined;
  return { flow, session };
});

/** When the bucket of a key is full again. Concurrent creations wait for its record. */
const findFullAt = Effect.fnUntraced(function* (tx: Tx, keyId: KeyId, at: Millis) {
  const found = yield* tx.get(sessionBursts, keyId);
  if (found !== undefined) return found.fullAt;
  yield* tx.claim(sessionBursts, { keyId, fullAt: at });
  return (yield* tx.get(sessionBursts, keyId))?.fullAt ?? at;
});

/**
 * Takes one creation from a key's token bucket. A bucket is stored as the time at which it is full again.
 *
 * @returns when the bucket is full again after this creation; or, if it is empty, when the next session can be created
 */
const takeFromBurst = (
  fullAt: Millis,
  { capacity, refillMs }: CreationBurst,
  at: Millis,
): { readonly fullAt: Millis } | { readonly readyAt: Millis } => {
  const latest = at + capacity * refillMs + clockTolerance;
  const from = fullAt > latest ? at : Math.max(fullAt, at);
  const readyAt = from - (capacity - 1) * refillMs;
  return readyAt > at ? { readyAt } : { fullAt: from + refillMs };
};

const openWithCode = (tx: Tx, codeHash: string) =>
  Effect.map(tx.list(verificationSessions.openByCode, [codeHash], { limit: 1 }), Arr.head);

const mostSightings = 500;

/** @internal */
export const storedSessions = recordStore<SessionStore, SessionStore["Service"], "complete">(
  SessionStore,
  ({ read, write, keyedWrite, inSteps, removeBefore, mostWritten }) => ({
    create: keyedWrite<SessionCreated, CreateSession>(
      "create",
      keptCreation,
      ({ session }) => session.keyId,
      function* (tx, { session, burst, code }): Effect.fn.Return<SessionCreated, StoreUnavailable> {
        const { keyId, createdAt } = session;
        if (!(yield* tx.knowsKey(keyId))) {
          throw new Error(`Cannot create a session of key "${keyId}", expected one that exists`);
        }
        const taken = burst && takeFromBurst(yield* findFullAt(tx, keyId, createdAt), burst, createdAt);
        if (taken !== null && "readyAt" in taken) return { _tag: "TooMany", ...taken };
        const { hash: codeHash = null, sealedSid = null } = code ?? {};
        const record = { ...session, changedAt: null, codeHash, sealedSid };
        if (!(yield* tx.claim(verificationSessions, record))) {
          const other = codeHash === null ? Option.none() : yield* openWithCode(tx, codeHash);
          if (Option.isSome(other)) return { _tag: "CodeTaken" };
          throw new Error("Cannot create a session: its id is taken, expected a new one");
        }
        if (taken !== null) yield* tx.put(sessionBursts, { keyId, ...taken });
        return { _tag: "Created" };
      },
    ),

    find: (id) =>
      read("find", (tx) =>
        Effect.map(tx.get(verificationSessions, id), (found) =>
          Option.map(Option.fromUndefinedOr(found), sessionOf),
        ),
      ),

    findByCode: (codeHash, at) =>
      read("findByCode", function* (tx) {
        const open = Option.filter(yield* openWithCode(tx, codeHash), (session) => isOpenAt(session, at));
        if (Option.isSome(open)) return { sealedSid: open.value.sealedSid };
        const ended = yield* tx.count(verificationSessions.byCode, [codeHash], { most: 1 });
        return ended === 0 ? null : { sealedSid: null };
      }),

    changedSince: (at, among) =>
      read("changedSince", function* (tx) {
        const found =
          among === null
            ? yield* tx.list(verificationSessions.changed, [], { after: [at - 1] })
            : yield* tx.getAll(
                verificationSessions,
                among.map((id) => [id]),
              );
        return found.flatMap(({ id, changedAt }) => (changedAt !== null && changedAt >= at ? [id] : []));
      }),

    advance: keyedWrite<Option.Option<SessionAdvanced>, AdvanceSession>(
      "advance",
      keptAdvance,
      ({ id }) => id,
      function* (tx, { id, to, at }) {
        const session = yield* tx.get(verificationSessions, id);
        if (session === undefined) return Option.none();
        if (!canAdvance(session, to, at)) return Option.some({ session: sessionOf(session), changed: false });
        const advanced = advancedSession(session, to);
        yield* changeSession(tx, advanced, at);
        return Option.some({ session: sessionOf(advanced), changed: true });
      },
    ),

    recordSightings: (pid, seen) =>
      Effect.forEach(
        Arr.chunksOf(seen, Math.min(mostWritten, mostSightings)),
        (part) => write("recordSightings", pid, (tx) => storeSightings(tx, pid, part)),
        { discard: true },
      ),

    sweep: Effect.fnUntraced(function* ({ at, sessionsBefore, sightingsBefore }) {
      const expired = new Set<SessionId>();
      yield* inSteps(
        "sweep",
        "expired sessions",
        (tx, limit) => tx.list(verificationSessions.openByEnd, [], { before: [at + 1], limit }),
        Effect.fnUntraced(function* (tx, found) {
          const sessions = yield* tx.getAll(verificationSessions, keysOfAll(verificationSessions, found));
          const over = sessions.filter((session) => canAdvance(session, "expired", at));
          yield* tx.putAll(
            verificationSessions,
            over.map((session) => ({ ...advancedSession(session, "expired"), changedAt: at })),
          );
          for (const { id } of over) expired.add(id);
          return over.length;
        }),
      );
      yield* removeBefore("sweep", verificationSessions.finalByEnd, [sessionsBefore]);
      yield* inSteps(
        "sweep",
        "ended flows",
        (tx, limit) => tx.list(verificationFlows.byEnd, [], { before: [at + 1], limit }),
        Effect.fnUntraced(function* (tx, found) {
          const flows = yield* tx.getAll(verificationFlows, keysOfAll(verificationFlows, found));
          return yield* endFlows(
            tx,
            flows.filter(({ expiresAt }) => expiresAt <= at),
            mostWritten,
          );
        }),
      );
      yield* removeBefore("sweep", sightingRecords.byTime, [sightingsBefore]);
      return [...expired];
    }),
  }),
);
