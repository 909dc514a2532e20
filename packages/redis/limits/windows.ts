import type { StoreUnavailable } from "@accountlink/core";
import type { Admission, CounterRule, CounterState } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { RedisCommands } from "../connection/connections.ts";
import { runCommand } from "../connection/failure.ts";
import { AdmissionBatches, admissionAt } from "./admission_batches.ts";
import { counterScripts, type ScriptClock } from "./counter_scripts.ts";
import { withHashTag } from "./hash_tag.ts";
import { runScript, type Script } from "./lua_script.ts";

type Rules = ReadonlyArray<CounterRule>;

export interface Outcome {
  readonly admission: Admission;
  /** The end of each window by the scripts' clock. `refund` skips a key whose current window has another end. */
  readonly ends: ReadonlyArray<number>;
}

/**
 * Ends of a window that differ by at most this many milliseconds count as equal. Covers the latency of a request and
 * the skew of synchronized clocks.
 */
const endTolerance = 250;

/** A generation is a period in which Redis lost no counts. It ends if no node renews it for this many milliseconds. */
export const generationLife = 15_000;

/** The numbers of a script's reply: the time, how many requests were admitted, then three numbers for each window. */
type Reply = ReadonlyArray<number>;

type WindowArguments = readonly [limitOrEnd: number, since?: number, floor?: number, unsynced?: number];

export interface WindowsOptions {
  readonly commands: RedisCommands;
  readonly prefix: string;
  readonly clock: ScriptClock;
  /** Whether all keys of a script must share a slot, so that most scripts could not read the key of a generation. */
  readonly isCluster: boolean;
}

/** Windows in Redis. Each call runs one script; in a cluster, the keys of its rules must share a slot. */
export class Windows {
  readonly #commands: RedisCommands;
  readonly #prefix: string;
  readonly #scripts: ReturnType<typeof counterScripts>;
  readonly #generation: string | null;
  readonly #batches: AdmissionBatches<Reply>;

  constructor({ commands, prefix, clock, isCluster }: WindowsOptions) {
    this.#commands = commands;
    this.#prefix = prefix;
    this.#scripts = counterScripts(clock);
    this.#generation = isCluster ? null : `${prefix}generation`;
    this.#batches = new AdmissionBatches(
      (rules, now, requests) => this.#sendAdmit(rules, now, requests),
      !isCluster,
    );
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

  /**
   * Counts one request in every window. If one window is full, or if Redis may have lost the count of a window, the
   * request is counted in none of them.
   */
  admit(rules: Rules, now: Millis): Effect.Effect<Admission, StoreUnavailable> {
    return runCommand("Counters.admit", () => this.#admit(rules, now, ({ admission }) => admission));
  }

  /** Like `admit`, but also returns the end of each window, which `refund` needs. */
  admitSlot(rules: Rules, now: Millis): Effect.Effect<Outcome, StoreUnavailable> {
    return runCommand("Counters.admit", () => this.#admit(rules, now, (outcome) => outcome));
  }

  #admit<A>(rules: Rules, now: Millis, use: (outcome: Outcome) => A): Promise<A> {
    const { reply, place } = this.#batches.join(rules, now);
    return reply.then((numbers) => use(outcomeOf(numbers, rules.length, now, place)));
  }

  #sendAdmit(rules: Rules, now: Millis, requests: number): Promise<Reply> {
    const isDurable = rules.some(({ checkpoint }) => checkpoint !== undefined);
    return this.#send({
      script: this.#scripts.admit,
      generation: isDurable ? this.#generation : null,
      rules,
      now,
      requests,
      argumentsOf: ({ limit, checkpoint }) =>
        checkpoint === undefined
          ? [limit]
          : [limit, checkpoint.since, checkpoint.floor ?? none, checkpoint.unsynced],
    });
  }

  read(rules: Rules, now: Millis): Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable> {
    return this.#statesOf("Counters.read", {
      script: this.#scripts.read,
      rules,
      now,
      argumentsOf: () => [0],
    });
  }

  /**
   * Takes back the counts of an admitted request, except in windows that have ended. Returns the states of the windows.
   */
  refund(
    rules: Rules,
    { ends }: Outcome,
    now: Millis,
  ): Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable> {
    const argumentsOf: Call["argumentsOf"] = (_, i) => [ends[i] ?? 0];
    return this.#statesOf("Counters.admit", { script: this.#scripts.refund, rules, now, argumentsOf });
  }

  #statesOf(operation: string, call: Call) {
    return Effect.map(
      runCommand(operation, () => this.#send(call)),
      (reply) => outcomeOf(reply, call.rules.length, call.now, 0).admission.states,
    );
  }

  #send({ script, generation = null, rules, now, requests = 1, argumentsOf }: Call): Promise<Reply> {
    const keys = rules.map((rule) => this.redisKeyOf(rule));
    const numbers = [now, generation === null ? 0 : generationLife, requests];
    for (const [index, rule] of rules.entries()) {
      const [first, since = none, floor = none, unsynced = 0] = argumentsOf(rule, index);
      numbers.push(rule.durationMs, first, since, floor, unsynced);
    }
    if (generation !== null) keys.push(generation);
    return runScript(this.#commands, script, keys, numbers);
  }
}

const none = -1;

interface Call {
  readonly script: Script;
  readonly generation?: string | null;
  readonly rules: Rules;
  readonly now: Millis;
  readonly requests?: number;
  readonly argumentsOf: (rule: CounterRule, index: number) => WindowArguments;
}

/** The outcome of the request at this index of a batch. */
const outcomeOf = (reply: Reply, windows: number, now: Millis, place: number): Outcome => {
  const [time, admitted] = reply as readonly [number, number];
  const states: Array<CounterState> = [];
  const ends: Array<number> = [];
  const forgottenAt = 2 + 3 * windows;
  for (let i = 2; i < forgottenAt; i += 3) {
    const [count, end, resetsAt] = [reply[i], reply[i + 1], reply[i + 2]] as [number, number, Millis];
    states.push({ count, resetsAt: stableEnd(now + end - time, resetsAt) });
    ends.push(end);
  }
  const after = reply.length > forgottenAt ? { states, forgotten: reply.slice(forgottenAt) } : { states };
  return { admission: admissionAt(place, admitted, after), ends };
};

/**
 * Returns the end of a window by the caller's clock. `stored` is the end that the first request of the window stored.
 * `computed` varies with the latency of each request. If both are close, returns `stored`, so that all requests report
 * the same end.
 */
const stableEnd = (computed: Millis, stored: Millis): Millis =>
  Math.abs(computed - stored) <= endTolerance ? stored : computed;
