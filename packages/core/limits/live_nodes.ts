/** Counts the live nodes by their heartbeats in the ledger. */
import { Clock, Effect, type Scope } from "effect";
import { uuidV4Unsafe } from "effect/crypto/SecureRandom";
import type { StoreUnavailable } from "../errors.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import type { Millis } from "../timestamp.ts";
import { CountLedger } from "./count_ledger.ts";

/** How long a node counts as live after its last heartbeat, in milliseconds. */
export const nodeTimeoutMs = 10_000;
const heartbeatInterval = "2 seconds";

/** Sends heartbeats until the scope closes. The returned function gives the latest known number of nodes. */
export const countLiveNodes: Effect.Effect<() => number, StoreUnavailable, CountLedger | Scope.Scope> =
  Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const nodeId = uuidV4Unsafe();
    let nodes = 1;
    const renew = (leaseMs: Millis) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis;
        nodes = Math.max(1, yield* ledger.renewNode(nodeId, now + leaseMs, now));
      });
    yield* renew(nodeTimeoutMs);
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(renew(0), "2 seconds")));
    const heartbeat = yield* warnOnce("Cannot count live nodes", renew(nodeTimeoutMs));
    yield* heartbeat.pipe(Effect.delay(heartbeatInterval), Effect.forever, Effect.forkScoped);
    return () => nodes;
  });
