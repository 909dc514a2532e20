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

/** How long a generation lasts that no node renews, in milliseconds. What Redis lost unnoticed is younger. */
export const generationLife = 15_000;

type WindowNumbers = readonly [limitOrEnd: number, since?: number, floor?: number, owed?: number];

export interface WindowsOptions {
  readonly commands: RedisCommands;
  readonly prefix: string;
  readonly clock: ScriptClock;
  /** A key in one slot cannot belong to the scripts of all. */
  readonly isCluster: boolean;
}

/** The windows in Redis. The rules of one call are one script; in a cluster their keys have to share a slot. */
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

  /** Keeps the generation for as long as it takes to renew it a few times. */
  renewGeneration(): Effect.Effect<void, StoreUnavailable> {
    const generation = this.#generation;
    if (generation === null) return Effect.void;
    return Effect.asVoid(
      ask("Counters.renewGeneration", () => this.#commands.pexpire(generation, generationLife)),
    );
  }

  /** The key of the window. */
  nameOf({ key }: CounterRule): string {
    return `${this.#prefix}${tagged(key)}`;
  }

  /** Counts one in every window, or in none when one of them is full. */
  admit(rules: Rules, now: Millis): Effect.Effect<Outcome, StoreUnavailable> {
    const lasting = rules.some(({ checkpoint }) => checkpoint !== undefined);
    return this.#run(
      {
        operation: "Counters.admit",
        script: this.#scripts.admit,
        generation: lasting ? this.#generation : null,
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

  /** Takes back what was counted, where the windows are still those, and gives what is left. */
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
    ownOf: (rule: CounterRule, index: number) => WindowNumbers,
  ): Effect.Effect<Outcome, StoreUnavailable> {
    const names = rules.map((rule) => this.nameOf(rule));
    const numbers = [now, generation === null ? 0 : generationLife];
    for (const [index, rule] of rules.entries()) {
      const [first, since = none, floor = none, owed = 0] = ownOf(rule, index);
      numbers.push(rule.durationMs, first, since, floor, owed);
    }
    if (generation !== null) names.push(generation);
    return Effect.map(
      ask(operation, () => runScript(this.#commands, script, names, numbers)),
      (reply) => outcomeOf(reply as ReadonlyArray<number>, now),
    );
  }
}

/** In place of a number that there is not. */
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
    states.push({ count, resetsAt: seenFrom(now + end - time, resetsAt) });
    ends.push(end);
  }
  const decision = { admitted: admitted === 1, states };
  return { admission: forgotten.length > 0 ? { ...decision, forgotten } : decision, ends };
};

/**
 * When a window ends by the caller's clock: as long after `now` as Redis says that it lasts. This varies by the time
 * that a request is under way, so what whoever began it computed stands as long as it is the same moment: midnight stays
 * midnight.
 */
const seenFrom = (here: Millis, begun: Millis): Millis =>
  Math.abs(here - begun) <= sameMoment ? begun : here;
