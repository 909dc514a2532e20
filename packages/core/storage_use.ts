/**
 * Whether a storage is a copy that acts on nobody. What was restored or copied rests until the operator resumes it: its
 * links may be old, and the original may still run. @internal
 */
import { Clock, Context, type Duration, Effect, type Scope } from "effect";
import type { StoreEffect } from "./errors.ts";
import { sweepEvery } from "./telemetry/warn_once.ts";
import type { Millis } from "./timestamp.ts";

/** @internal */
export interface Rest {
  readonly since: Millis;
  /**
   * `copied`: the storage found itself in another place than before, for example as a dump that was restored. `moved to …`:
   * the storage with that name has its data now.
   */
  readonly reason: "restored" | "copied" | `moved to ${string}`;
}

/** What an adapter keeps of the place of its data. @internal */
export interface PlaceRecords {
  /** Stores the place of the data. Data with another stored place rests from now on. Returns the rest, or null. */
  readonly claim: (at: Millis) => StoreEffect<Rest | null>;
  readonly find: StoreEffect<Rest | null>;
  /** Makes the data rest, also in the place where it is. */
  readonly rest: (rest: Rest) => StoreEffect<void>;
  readonly resume: StoreEffect<void>;
}

/** What a process knows of the rest of its storage. @internal */
export interface StorageUse extends Pick<PlaceRecords, "rest" | "resume"> {
  /** Reads the rest anew. While the storage rests, a process does so by itself. */
  readonly reread: StoreEffect<void>;
  /** The rest, as it was last read; null while the storage acts. Work that reaches others asks before each act. */
  readonly resting: () => Rest | null;
  /** How far the clock of the storage's server is ahead of this machine's, in milliseconds; 0 on the same machine. */
  readonly clockLead: StoreEffect<number>;
  /** The running servers that would notice no change by others; empty where a lock keeps them out. */
  readonly servers: StoreEffect<ReadonlyArray<string>>;
}

/** How often a process looks whether its storage was resumed. */
const interval = "500 millis";

/** @internal */
export const makeStorageUse = Effect.fnUntraced(function* (
  { claim, find, ...records }: PlaceRecords,
  {
    servers = Effect.succeed([]),
    clockLead = Effect.succeed(0),
  }: Partial<Pick<StorageUse, "servers" | "clockLead">> = {},
) {
  let resting = yield* claim(yield* Clock.currentTimeMillis);
  const read = Effect.map(find, (found) => {
    resting = found;
  });
  const scope = yield* Effect.scope;
  const watching = Effect.repeat(Effect.ignore(Effect.delay(read, interval)), {
    while: () => resting !== null,
  });
  const watch = Effect.suspend(() =>
    resting === null ? Effect.void : Effect.asVoid(Effect.forkIn(watching, scope)),
  );
  yield* watch;
  return StorageUse.of({
    ...records,
    servers,
    clockLead,
    resting: () => resting,
    resume: Effect.andThen(records.resume, read),
    reread: Effect.andThen(read, watch),
  });
}) satisfies (...args: never) => Effect.Effect<StorageUse, unknown, Scope.Scope>;

/** The use of a storage. Without one, as in memory, nothing rests. @internal */
export const StorageUse = Context.Reference<StorageUse>("@accountlink/core/StorageUse", {
  defaultValue: () => ({
    resting: () => null,
    rest: () => Effect.void,
    resume: Effect.void,
    reread: Effect.void,
    clockLead: Effect.succeed(0),
    servers: Effect.succeed([]),
  }),
});

/**
 * The time by which old records are deleted: the time of the storage's server if this machine's clock is ahead of it, so
 * that one wrong clock deletes nothing of all nodes. @internal
 */
export const storageNow: StoreEffect<Millis> = Effect.flatMap(StorageUse, ({ clockLead }) =>
  Effect.zipWith(Clock.currentTimeMillis, clockLead, (now, lead) => now + Math.min(0, Math.floor(lead))),
);

/** Deletes old records in the background, at once and after each interval, until the scope closes. @internal */
export const sweepOldEvery = <E, R>(
  every: Duration.Input,
  problem: string,
  sweep: (now: Millis) => Effect.Effect<unknown, E, R>,
) => sweepEvery(every, problem, () => Effect.flatMap(storageNow, sweep));
