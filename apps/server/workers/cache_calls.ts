/**
 * Calls of `Counters` and `Cache` as they go over the channel.
 */
import type { Admission, CounterRule, CounterState } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";

export type CacheCall =
  /** As many requests as `times`, one after the other. */
  | readonly [name: "admit", rules: ReadonlyArray<CounterRule>, now: Millis, times: number]
  | readonly [name: "read", rules: ReadonlyArray<CounterRule>, now: Millis]
  | readonly [name: "get", key: string, now: Millis]
  | readonly [name: "set", key: string, value: string, expiresAt: Millis, now: Millis];

/** How many of the requests were admitted, and the windows after all of them. */
export interface AdmitAnswer extends Pick<Admission, "states" | "forgotten"> {
  readonly admitted: number;
}

/** The answers to the calls, in their order. */
export type CacheAnswer = AdmitAnswer | ReadonlyArray<CounterState> | string | null;
