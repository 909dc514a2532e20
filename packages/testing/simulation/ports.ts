/** Simulated Postgres and Redis: adapters in memory behind a simulated network. */

import { Cache, Counters, Signals, type StoragePorts } from "@accountlink/core";
import type { CounterRule, CounterState } from "@accountlink/core/limits";
import { CacheMemory, StorageMemory } from "@accountlink/memory";
import { Context, Effect, Layer, Queue } from "effect";
import { latency, Server } from "./server.ts";
import type { Process, World } from "./world.ts";

const build = <Ports>(layer: Layer.Layer<Ports>, process: Process): Context.Context<Ports> =>
  Context.omit(Layer.CurrentMemoMap)(
    Effect.runSyncWith(process.context)(Effect.scoped(Layer.build(Layer.fresh(layer)))),
  ) as Context.Context<Ports>;

/** The simulated database, which all nodes share. @internal */
export class Postgres extends Server {
  /** The storage ports without the simulated network, to prepare data before the nodes start. */
  readonly ports: Context.Context<StoragePorts>;

  constructor(world: World) {
    super(world, "Postgres", 2_000);
    this.ports = build(StorageMemory.layer, this);
  }

  portsOf(node: Process): Context.Context<StoragePorts> {
    const ports = Array.from(
      this.ports.mapUnsafe,
      ([key, service]) => [key, this.port(node, key, () => service as object)] as const,
    );
    return Context.makeUnsafe(new Map(ports));
  }
}

interface Subscriber {
  readonly node: Process;
  readonly topic: string;
  readonly messages: Queue.Queue<string>;
}

/** A counted request, which `restore` counts again. */
interface Counted {
  readonly at: number;
  readonly rules: Rules;
  readonly now: number;
}

/** Shared state that may be lost: counts, cached values and signals. @internal */
export class Redis extends Server {
  #ports: Context.Context<Counters | Cache>;
  readonly #subscribers = new Set<Subscriber>();
  readonly #counted: Array<Counted> = [];
  /** Whether all signals are lost before they reach a subscriber. */
  losesSignals = false;

  constructor(world: World) {
    super(world, "Redis", 500);
    this.#ports = build(CacheMemory.layer, this);
  }

  /** Restarts the server without its data. */
  empty(): void {
    this.restore(0);
  }

  /**
   * Restarts the server from a backup. Loses all cached values, and the requests counted after the backup. Like a real
   * Redis, the server does not report the loss.
   *
   * @param until the time of the backup, in milliseconds since the start
   */
  restore(until: number): void {
    this.#ports = build(CacheMemory.layer, this);
    const counted = this.#counted.splice(0).filter(({ at }) => at < until);
    for (const { at, rules, now } of counted) {
      Effect.runSyncWith(this.context)(this.#admit(rules, now, at));
    }
  }

  #admit(rules: Rules, now: number, at = this.world.now) {
    this.#counted.push({ at, rules, now });
    return Context.get(this.#ports, Counters).admit(rules, now);
  }

  portsOf(node: Process): Context.Context<Counters | Cache | Signals> {
    const cache = () => Context.get(this.#ports, Cache);
    return Context.make(Counters, this.#counters(node)).pipe(
      Context.add(Cache, this.port(node, "Cache", cache)),
      Context.add(Signals, this.#signals(node)),
    );
  }

  /**
   * Returns the counters for a node. They convert the times of each operation between the clocks of the node and Redis.
   * The end of a UTC day is the same on both clocks.
   */
  #counters(node: Process): Counters["Service"] {
    const counters = () => Context.get(this.#ports, Counters);
    const aheadOf = (now: number) => now - this.currentTimeMillisUnsafe();
    return this.port(node, "Counters", (): Counters["Service"] => ({
      admit: (rules, now) => {
        const ahead = aheadOf(now);
        return Effect.map(this.#admit(rulesHere(rules, ahead), now - ahead), (admission) => ({
          ...admission,
          states: statesThere(rules, admission.states, ahead),
        }));
      },
      read: (rules, now) => {
        const ahead = aheadOf(now);
        return Effect.map(counters().read(rulesHere(rules, ahead), now - ahead), (states) =>
          statesThere(rules, states, ahead),
        );
      },
    }));
  }

  #signals(node: Process): Signals["Service"] {
    const tell = (topic: string, message: string) => {
      if (this.losesSignals) return;
      for (const { node: other, topic: heard, messages } of this.#subscribers) {
        if (heard !== topic || other.state === "dead" || this.loses(other)) continue;
        this.world.after(latency(this.world), other, () => void Queue.offerUnsafe(messages, message));
      }
    };
    return {
      publish: (topic, message) =>
        this.call(
          node,
          "Signals.publish",
          Effect.sync(() => tell(topic, message)),
        ),
      subscribe: (topic) =>
        Effect.acquireRelease(
          Effect.map(Queue.unbounded<string>(), (messages) => {
            const subscriber = { node, topic, messages };
            this.#subscribers.add(subscriber);
            return subscriber;
          }),
          (subscriber) => Effect.sync(() => this.#subscribers.delete(subscriber)),
        ).pipe(Effect.map(({ messages }) => messages)),
    };
  }
}

type Rules = ReadonlyArray<CounterRule>;

/**
 * Converts a node's rules to the clock of Redis. A day ends at `now + durationMs`. Its end must not change, so its
 * duration grows by as much as `now` is reduced.
 *
 * @param ahead how far the clock of the node is ahead of the clock of Redis, in milliseconds
 */
const rulesHere = (rules: Rules, ahead: number): Rules =>
  rules.map((rule) => (rule.isDay === true ? { ...rule, durationMs: rule.durationMs + ahead } : rule));

const statesThere = (rules: Rules, states: ReadonlyArray<CounterState>, ahead: number) =>
  states.map((state, index) =>
    rules[index]?.isDay === true ? state : { ...state, resetsAt: state.resetsAt + ahead },
  );
