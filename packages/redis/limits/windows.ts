import type { StoreUnavailable } from "@accountlink/core";
import type { Admission, CounterRule, CounterState } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { RedisCommands } from "../connection/connections.ts";
import { runCommand } from "../connection/failure.ts";
import { atEndOfTurn } from "../connection/pipelining_redis.ts";
import type { Script } from "../script.ts";
import { counterScripts, runCounterScript, type ScriptClock } from "./counter_scripts.ts";

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
  readonly #batches: AdmissionBatches;

  constructor(commands: RedisCommands, prefix: string, clock: ScriptClock) {
    this.#commands = commands;
    this.#prefix = prefix;
    this.#scripts = counterScripts(clock);
    this.#batches = new AdmissionBatches((rules, now, requests) => {
      const script = this.#scripts.admit;
      return this.#send({ script, rules, now, requests, argumentOf: ({ limit }) => limit });
    });
  }

  #redisKeyOf({ key }: CounterRule): string {
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
    const keys = rules.map((rule) => this.#redisKeyOf(rule));
    const numbers = [now, requests];
    for (const [index, rule] of rules.entries()) numbers.push(rule.durationMs, argumentOf(rule, index));
    return runCounterScript(this.#commands, script, keys, numbers);
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

/** Returns the subject of a window, such as `203.0.113.7` of `ip_day:203.0.113.7`. */
export const subjectOf = (name: string): string => name.slice(name.indexOf(":") + 1);

/** Puts the subject in braces, so that all windows of a subject share a slot: `ip_day:{203.0.113.7}`. */
export const withHashTag = (name: string): string => {
  const subject = subjectOf(name);
  return `${name.slice(0, name.length - subject.length)}{${subject}}`;
};

/** Sends one script for several requests that count in the same windows. */
type Send = (rules: Rules, now: Millis, requests: number) => Promise<Reply>;

interface Batch {
  readonly rules: Rules;
  readonly now: Millis;
  readonly reply: Promise<Reply>;
  size: number;
}

/**
 * Combines the requests of one turn of the event loop that count in the same windows, such as the requests of one key
 * from one address. They are decided in order, as if they came one after another.
 */
class AdmissionBatches {
  readonly #send: Send;
  /**
   * The open batches of this turn, by the `key` of their last rule. This rule limits one API key, so requests of
   * different API keys share no batch.
   */
  readonly #open = new Map<string, Batch>();

  constructor(send: Send) {
    this.#send = send;
  }

  /** Returns the reply to a batch, and the index of this request in the batch. */
  join(rules: Rules, now: Millis): { readonly reply: Promise<Reply>; readonly place: number } {
    const name = rules[rules.length - 1]?.key ?? "";
    const open = this.#open.get(name);
    if (open !== undefined && isSame(open, rules, now)) return { reply: open.reply, place: open.size++ };
    const batch = this.#begin(name, rules, now);
    this.#open.set(name, batch);
    return { reply: batch.reply, place: 0 };
  }

  #begin(name: string, rules: Rules, now: Millis): Batch {
    const reply = new Promise<Reply>((resolve) => {
      atEndOfTurn(() => {
        if (this.#open.get(name) === batch) this.#open.delete(name);
        resolve(this.#send(rules, now, batch.size));
      });
    });
    const batch: Batch = { rules, now, reply, size: 1 };
    return batch;
  }
}

/**
 * Derives the admission of one request from the result of its batch. A batch admits its requests in order, so it
 * refuses the last ones if there is not room for all.
 *
 * @param admitted how many requests of the batch were admitted
 * @param states the states of the windows after the whole batch
 */
const admissionAt = (place: number, admitted: number, states: ReadonlyArray<CounterState>): Admission => {
  const countedAfter = admitted - place - 1;
  if (countedAfter <= 0) return { admitted: countedAfter === 0, states };
  return {
    admitted: true,
    states: states.map(({ count, resetsAt }) => ({ count: count - countedAfter, resetsAt })),
  };
};

/**
 * Whether a request can join a batch. It must count in the same windows with the same limits. Each of its windows must
 * have the same duration or the same end as in the batch.
 */
const isSame = (batch: Batch, rules: Rules, now: Millis): boolean =>
  rules.length === batch.rules.length &&
  rules.every(({ key, limit, durationMs }, i) => {
    const other = batch.rules[i] as CounterRule;
    return (
      key === other.key &&
      limit === other.limit &&
      (durationMs === other.durationMs || now + durationMs === batch.now + other.durationMs)
    );
  });
