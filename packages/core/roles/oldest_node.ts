import { Clock, Effect, Option } from "effect";
import { leaseShare } from "../records/records.ts";
import { StorageUse } from "../storage_use.ts";
import { sweepEvery } from "../telemetry/warn_once.ts";
import { newUlid } from "../ulid.ts";
import { RolePlanStore } from "./role_plan_store.ts";

interface NodeWork<R> {
  /** The log message if the storage does not answer. */
  readonly problem: string;
  /** How often the node looks whether it is the oldest, and works, in milliseconds. */
  readonly every?: number;
  /** Runs at each look while this node is the oldest. */
  readonly work: Effect.Effect<unknown, unknown, R>;
  /** Runs when another node is the oldest, the node's lease has ended, or the storage rests. */
  readonly stop: Effect.Effect<void>;
  /** Whether the work reaches nobody, so that it goes on while the storage rests. */
  readonly isInner?: boolean;
}

/**
 * Lets one node of all work, the oldest. Another one takes over within 10 looks after its death. Until the scope closes.
 *
 * @param prefix the work, such as `gateway:`
 * @internal
 */
export const makeOldestNode = Effect.fnUntraced(function* <R>(
  prefix: string,
  { problem, work, stop, every = 1_000, isInner = false }: NodeWork<R>,
) {
  const store = yield* RolePlanStore;
  const { resting } = yield* StorageUse;
  const node = prefix + newUlid(yield* Clock.currentTimeMillis);
  // How long a node may work after its last heartbeat.
  const holdTime = 7 * every;
  let livesUntil = 0;

  const hold = Effect.fnUntraced(function* (at: number) {
    yield* store.hold({ node, at, until: at + holdTime, limit: 0 });
    livesUntil = at + leaseShare * holdTime;
    const isOldest = Option.contains(yield* store.firstNode(prefix, at), node);
    yield* isOldest ? work : stop;
  });

  const release = Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis;
    // A node stops even if its stores fail.
    yield* Effect.exit(Effect.timeout(store.hold({ node, at, until: at, limit: 0 }), "2 seconds"));
  });
  yield* Effect.addFinalizer(() => release);
  yield* sweepEvery(every, problem, (at) =>
    isInner || resting() === null
      ? Effect.tapError(hold(at), () => (at < livesUntil ? Effect.void : stop))
      : stop,
  );
});
