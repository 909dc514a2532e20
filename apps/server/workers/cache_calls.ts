/**
 * Calls of `Counters` and `Cache` as they go over the channel. Rules and decisions are tuples: every request of a
 * client has some.
 */
import type { Admission, CounterRule, CounterState } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";

/** A rule; with `since`, `floor` and `owed` of its checkpoint, if it has one. */
export type RuleTuple =
  | readonly [key: string, limit: number, durationMs: number]
  | readonly [
      key: string,
      limit: number,
      durationMs: number,
      since: Millis,
      floor: number | null,
      owed: number,
    ];

/** Counts and ends of windows by turns. */
export type StateTuple = ReadonlyArray<number>;

export type AdmissionTuple = readonly [
  admitted: boolean,
  states: StateTuple,
  forgotten?: ReadonlyArray<number>,
];

export type CacheCall =
  /** As many requests as `times`, one after the other. */
  | readonly [name: "admit", rules: ReadonlyArray<RuleTuple>, now: Millis, times: number]
  | readonly [name: "read", rules: ReadonlyArray<RuleTuple>, now: Millis]
  | readonly [name: "get", key: string, now: Millis]
  | readonly [name: "set", key: string, value: string, expiresAt: Millis, now: Millis];

/** The answers to the calls, in their order. */
export type CacheAnswer = ReadonlyArray<AdmissionTuple> | StateTuple | string | null;

export const encodeRule = ({ key, limit, durationMs, checkpoint }: CounterRule): RuleTuple =>
  checkpoint === undefined
    ? [key, limit, durationMs]
    : [key, limit, durationMs, checkpoint.since, checkpoint.floor, checkpoint.owed];

export const decodeRule = ([key, limit, durationMs, since, floor, owed]: RuleTuple): CounterRule =>
  since === undefined
    ? { key, limit, durationMs }
    : { key, limit, durationMs, checkpoint: { since, floor: floor ?? null, owed: owed ?? 0 } };

export const encodeStates = (states: ReadonlyArray<CounterState>): StateTuple =>
  states.flatMap(({ count, resetsAt }) => [count, resetsAt]);

export const decodeStates = (tuple: StateTuple): ReadonlyArray<CounterState> => {
  const states: Array<CounterState> = [];
  for (let i = 0; i < tuple.length; i += 2) {
    states.push({ count: tuple[i] as number, resetsAt: tuple[i + 1] as number });
  }
  return states;
};

export const encodeAdmission = ({ admitted, states, forgotten }: Admission): AdmissionTuple =>
  forgotten === undefined ? [admitted, encodeStates(states)] : [admitted, encodeStates(states), forgotten];

export const decodeAdmission = ([admitted, states, forgotten]: AdmissionTuple): Admission =>
  forgotten === undefined
    ? { admitted, states: decodeStates(states) }
    : { admitted, states: decodeStates(states), forgotten };
