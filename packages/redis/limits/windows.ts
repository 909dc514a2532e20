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

/** The numbers of a script's reply: the time, how many requests were admitted, then three numbers for each window. */
type Reply = ReadonlyArray<number>;

/** Windows in Redis. Each call runs one script; in a cluster, the keys of its rules must share a slot. */
export class Windows {
  readonly #commands: RedisCommands;
  readonly #prefix: string;
  readonly #scripts: ReturnType<typeof counterScripts>;
  readonly #batches: AdmissionBatches<Reply>;

  constructor(commands: RedisCommands, prefix: string, clock: ScriptClock) {
    this.#commands = commands;
    this.#prefix = prefix;
    this.#scripts = counterScripts(clock);
    this.#batches = new AdmissionBatches((rules, now, requests) => {
      const script = this.#scripts.admit;
      return this.#send({ script, rules, now, requests, argumentOf: ({ limit }) => limit });
    });
  }

  redisKeyOf({ key }: CounterRule): string {
    return `${this.#prefix}${withHashTag(key)}`;
  }

  /** Counts one request in every window, or in none if a window is full. */
  admit(rules: Rules, now: Millis): Effect.Effect<Outcome, StoreUnavailable> {
    return runCommand("Counters.admit", () => {
      const { reply, place } = this.#batches.join(rules, now);
      return reply.then((numbers) => outcomeOf(numbers, now, place));
    });
  }

  read(rules: Rules, now: Millis): Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable> {
    return this.#statesOf("Counters.read", { script: this.#scripts.read, rules, now, argumentOf: () => 0 });
  }

  /**
   * Takes back the counts of an admitted request, except in windows that have ended. Returns the states of the windows.
   */
  refund(
    rules: Rules,
    { ends }: Outcome,
    now: Millis,
  ): Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable> {
    const argumentOf: Call["argumentOf"] = (_, i) => ends[i] ?? 0;
    return this.#statesOf("Counters.admit", { script: this.#scripts.refund, rules, now, argumentOf });
  }

  #statesOf(operation: string, call: Call) {
    return Effect.map(
      runCommand(operation, () => this.#send(call)),
      (reply) => outcomeOf(reply, call.now, 0).admission.states,
    );
  }

  #send({ script, rules, now, requests = 1, argumentOf }: Call): Promise<Reply> {
    const keys = rules.map((rule) => this.redisKeyOf(rule));
    const numbers = [now, requests];
    for (const [index, rule] of rules.entries()) numbers.push(rule.durationMs, argumentOf(rule, index));
    return runScript(this.#commands, script, keys, numbers);
  }
}

interface Call {
  readonly script: Script;
  readonly rules: Rules;
  readonly now: Millis;
  readonly requests?: number;
  /** The second argument of a window in the script. */
  readonly argumentOf: (rule: CounterRule, index: number) => number;
}

/** The outcome of the request at this index of a batch. */
const outcomeOf = (reply: Reply, now: Millis, place: number): Outcome => {
  const [time, admitted] = reply as readonly [number, number];
  const states: Array<CounterState> = [];
  const ends: Array<number> = [];
  for (let i = 2; i < reply.length; i += 3) {
    const [count, end, resetsAt] = [reply[i], reply[i + 1], reply[i + 2]] as [number, number, Millis];
    states.push({ count, resetsAt: stableEnd(now + end - time, resetsAt) });
    ends.push(end);
  }
  return { admission: admissionAt(place, admitted, states), ends };
};

/**
 * Returns the end of a window by the caller's clock. `stored` is the end that the first request of the window stored.
 * `computed` varies with the latency of each request. If both are close, returns `stored`, so that all requests report
 * the same end.
 */
const stableEnd = (computed: Millis, stored: Millis): Millis =>
  Math.abs(computed - stored) <= endTolerance ? stored : computed;
