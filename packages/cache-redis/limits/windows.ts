import type { StoreUnavailable } from "@accountlink/core";
import type { Admission, CounterRule, CounterState } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { RedisCommands } from "../connection/connections.ts";
import { runCommand } from "../connection/failure.ts";
import { counterScripts, type ScriptClock } from "./counter_scripts.ts";
import { withHashTag } from "./hash_tag.ts";
import { runScript, type Script } from "./lua_script.ts";

type Rules = ReadonlyArray<CounterRule>;

export interface Outcome {
  readonly admission: Admission;
  /**
   * The end of each window by the clock of the scripts; identifies a window among those of its key.
   */
  readonly ends: ReadonlyArray<number>;
}

/**
 * Ends of a window that differ less count as the same, in milliseconds. Covers the latency of a
 * request and the skew of synchronized clocks.
 */
const endTolerance = 250;

/** How long a generation lasts without renewal, in milliseconds. */
export const generationLife = 15_000;

type WindowArguments = readonly [limitOrEnd: number, since?: number, floor?: number, owed?: number];

export interface WindowsOptions {
  readonly commands: RedisCommands;
  readonly prefix: string;
  readonly clock: ScriptClock;
  /** A cluster has no generation, since it would be a key of scripts on all slots. */
  readonly isCluster: boolean;
}

/**
 * Windows in Redis. Each call is one script; in a cluster, the keys of its rules must share a slot.
 */
export class Windows {
  readonly #commands: RedisCommands;
  readonly #prefix: string;
  readonly #scripts: ReturnType<typeof counterScripts>;
  readonly #generation: string | null;

  constructor({ commands, prefix, clock, isCluster }: WindowsOptions) {
    this.#commands = commands;
    this.#prefix = prefix;
    this.#scripts = counterScripts(clock);
    this.#generation = isCluster ? null : `${prefix}generation`;
  }

  renewGeneration(): Effect.Effect<void, StoreUnavailable> {
    const generation = this.#generation;
    if (generation === null) return Effect.void;
    return Effect.asVoid(
      runCommand("Counters.renewGeneration", () => this.#commands.pexpire(generation, generationLife)),
    );
  }

  redisKeyOf({ key }: CounterRule): string {
    return `${this.#prefix}${withHashTag(key)}`;
  }

  /** Counts one in every window, or in none if one of them is full or forgotten. */
  admit(rules: Rules, now: Millis): Effect.Effect<Outcome, StoreUnavailable> {
    const isDurable = rules.some(({ checkpoint }) => checkpoint !== undefined);
    return this.#run(
      {
        operation: "Counters.admit",
        script: this.#scripts.admit,
        generation: isDurable ? this.#generation : null,
      },
      rules,
      now,
      ({ limit, checkpoint }) =>
        checkpoint === undefined
          ? [limit]
          : [limit, checkpoint.since, checkpoint.floor ?? none, checkpoint.owed],
    );
  }

  read(rules: Rules, now: Millis): Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable> {
    const call = { operation: "Counters.read", script: this.#scripts.read, generation: null };
    const outcome = this.#run(call, rules, now, () => [0]);
    return Effect.map(outcome, ({ admission }) => admission.states);
  }

  /** Takes back the counts of an outcome, unless its windows have ended, and returns the states. */
  refund(
    rules: Rules,
    { ends }: Outcome,
    now: Millis,
  ): Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable> {
    const call = { operation: "Counters.admit", script: this.#scripts.refund, generation: null };
    const outcome = this.#run(call, rules, now, (_, i) => [ends[i] ?? 0]);
    return Effect.map(outcome, ({ admission }) => admission.states);
  }

  #run(
    { operation, script, generation }: Call,
    rules: Rules,
    now: Millis,
    argumentsOf: (rule: CounterRule, index: number) => WindowArguments,
  ): Effect.Effect<Outcome, StoreUnavailable> {
    const keys = rules.map((rule) => this.redisKeyOf(rule));
    const numbers = [now, generation === null ? 0 : generationLife];
    for (const [index, rule] of rules.entries()) {
      const [first, since = none, floor = none, owed = 0] = argumentsOf(rule, index);
      numbers.push(rule.durationMs, first, since, floor, owed);
    }
    if (generation !== null) keys.push(generation);
    return Effect.map(
      runCommand(operation, () => runScript(this.#commands, script, keys, numbers)),
      (reply) => outcomeOf(reply as ReadonlyArray<number>, now),
    );
  }
}

/** Stands for a missing argument. */
const none = -1;

interface Call {
  readonly operation: string;
  readonly script: Script;
  readonly generation: string | null;
}

const outcomeOf = (reply: ReadonlyArray<number>, now: Millis): Outcome => {
  const [time = 0, admitted] = reply;
  const states: Array<CounterState> = [];
  const ends: Array<number> = [];
  const forgotten: Array<number> = [];
  for (let i = 2; i + 3 < reply.length; i += 4) {
    const [count, end, resetsAt] = [reply[i], reply[i + 1], reply[i + 2]] as [number, number, Millis];
    if (reply[i + 3] === 1) forgotten.push(states.length);
    states.push({ count, resetsAt: stableEnd(now + end - time, resetsAt) });
    ends.push(end);
  }
  const decision = { admitted: admitted === 1, states };
  return { admission: forgotten.length > 0 ? { ...decision, forgotten } : decision, ends };
};

/**
 * The end of a window by the caller's clock. The computed end varies with the latency of the
 * request, so the end that the first caller stored is preferred while it is close: midnight stays
 * midnight.
 */
const stableEnd = (computed: Millis, stored: Millis): Millis =>
  Math.abs(computed - stored) <= endTolerance ? stored : computed;
