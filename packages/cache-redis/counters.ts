/** Limits in Redis. */
import { Counters } from "@accountlink/core";
import { Layer } from "effect";
import type { RedisConnections } from "./connections.ts";
import { makeCounters } from "./internal/make_counters.ts";

/**
 * Counts that all nodes share. All rules of a request are decided by one script, in one round trip, so however many ask
 * at once exactly as many are admitted as there is room for.
 *
 * A window ends when Redis's clock says so; the clocks of the nodes decide nothing. `resetsAt` is by the caller's clock:
 * its `now` and as long as the window still lasts.
 *
 * In a cluster the windows of one subject (`second:<key>`, `day:<key>`) share a slot, and those of two subjects may not.
 * Then each subject has a script, one after the other, and what was counted for the first is taken back when the second
 * refuses. No limit is ever exceeded; while a count that will be taken back stands, another request may be refused by it.
 *
 * A request that failed with `StoreUnavailable` may have been counted. A Redis that evicts keys forgets counts.
 */
export const layer: Layer.Layer<Counters, never, RedisConnections> = Layer.effect(
  Counters,
  makeCounters("redis"),
);
