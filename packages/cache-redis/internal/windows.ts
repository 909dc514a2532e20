import type { Admission, CounterRule, CounterState, Millis, StoreUnavailable } from "@accountlink/core";
import { Effect } from "effect";
import type { RedisCommands } from "../connections.ts";
import { counterScripts, type ScriptClock } from "./counter_scripts.ts";
import { tagged } from "./hash_tag.ts";
import { ask } from "./redis_failure.ts";
import { runScript, type Script } from "./script.ts";

type Rules = ReadonlyArray<CounterRule>;

/** What a script found, and left. */
export interface Outcome {
  readonly admission: Admission;
  /** When each window ends, by the clock of the scripts: this tells one window of a key from the next. */
  readonly ends: ReadonlyArray<number>;
}

/**
 * How far apart two callers may see a window end and still be told the same, in milliseconds: the time that a request
 * is under way, and the little by which the clocks of well-kept machines differ.
 */
const sameMoment = 250;

/** The windows in Redis. The rules of one call are one script; in a cluster their keys have to share a slot. */
export class Windows {
  readonly #commands: RedisCommands;
  readonly #prefix: string;
  readonly #scripts: ReturnType<typeof counterScripts>;

  constructor(commands: RedisCommands, prefix: string, clock: ScriptClock) {
    this.#commands = commands;
    this.#prefix = prefix;
    this.#scripts = counterScripts(clock);
  }

  /** The key of the window. */
  nameOf({ key }: CounterRule): string {
    return `${this.#prefix}${tagged(key)}`;
  }

  /** Counts one in every window, or in none when one of them is full. */
  admit(rules: Rules, now: Millis): Effect.Effect<Outcome, StoreUnavailable> {
    return this.#run("Counters.admit", this.#scripts.admit, rules, now, ({ limit, floor = 0 }) => [
      limit,
      floor,
    ]);
  }

  read(rules: Rules, now: Millis): Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable> {
    const outcome = this.#run("Counters.read", this.#scripts.read, rules, now, () => [0, 0]);
    return Effect.map(outcome, ({ admission }) => admission.states);
  }

  /** Takes back what was counted, where the windows are still those, and gives what is left. */
  refund(
    rules: Rules,
    { ends }: Outcome,
    now: Millis,
  ): Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable> {
    const outcome = this.#run("Counters.admit", this.#scripts.refund, rules, now, (_, i) => [
      ends[i] ?? 0,
      0,
    ]);
    return Effect.map(outcome, ({ admission }) => admission.states);
  }

  #run(
    operation: string,
    script: Script,
    rules: Rules,
    now: Millis,
    ownOf: (rule: CounterRule, index: number) => readonly [number, number],
  ): Effect.Effect<Outcome, StoreUnavailable> {
    const names = rules.map((rule) => this.nameOf(rule));
    const numbers = [now, ...rules.flatMap((rule, index) => [rule.durationMs, ...ownOf(rule, index)])];
    return Effect.map(
      ask(operation, () => runScript(this.#commands, script, names, numbers)),
      (reply) => outcomeOf(reply as ReadonlyArray<number>, now),
    );
  }
}

const outcomeOf = (reply: ReadonlyArray<number>, now: Millis): Outcome => {
  const [time = 0, admitted, raised] = reply;
  const states: Array<CounterState> = [];
  const ends: Array<number> = [];
  for (let i = 3; i + 2 < reply.length; i += 3) {
    const [count, end, resetsAt] = [reply[i], reply[i + 1], reply[i + 2]] as [number, number, Millis];
    states.push({ count, resetsAt: seenFrom(now + end - time, resetsAt) });
    ends.push(end);
  }
  const decision = { admitted: admitted === 1, states };
  return { admission: raised === 1 ? { ...decision, raised: true } : decision, ends };
};

/**
 * When a window ends by the caller's clock: as long after `now` as Redis says that it lasts. This varies by the time
 * that a request is under way, so what whoever began it computed stands as long as it is the same moment: midnight stays
 * midnight.
 */
const seenFrom = (here: Millis, begun: Millis): Millis =>
  Math.abs(here - begun) <= sameMoment ? begun : here;
