/**
 * Runs a program with simulated processes of the service. A seed decides the order of events, so that a run can be
 * repeated.
 */

import type { Fixture } from "@accountlink/core";
import { FallbackCounters } from "@accountlink/core/limits";
import { RootKey, Secrets } from "@accountlink/core/secrets";
import { CacheMemory } from "@accountlink/memory";
import { Cause, Context, Deferred, Duration, Effect, Exit, Layer, Redacted, Scope } from "effect";
import { aFixture } from "../builders/complete_fixture.ts";
import { load, servicesAfter, surroundings } from "../memory/services.ts";
import type { Chance } from "./chance.ts";
import { cryptography } from "./cryptography.ts";
import { Postgres, Redis } from "./ports.ts";
import { Process, World } from "./world.ts";

const services = servicesAfter(Effect.void).pipe(
  Layer.provideMerge(FallbackCounters.layer(CacheMemory.layer)),
);

/** Every service and port of a simulated process. */
export type Services = Layer.Success<typeof services>;

type StartError = Layer.Error<typeof services>;

/** The operations that a simulated program (a story) can use. */
export class Simulation extends Context.Service<
  Simulation,
  {
    /**
     * Starts a process: a program with its own services, which work in the global scope of the account "acme". All
     * processes share the storage. A process that starts while the storage is unavailable ends immediately.
     */
    readonly start: <A, E>(name: string, program: Effect.Effect<A, E, Services>) => SimulatedProcess<A, E>;

    /** Random numbers from the seed. */
    readonly chance: Chance;

    /** The storage of links, keys and all other lasting data. */
    readonly postgres: SimulatedServer;

    /** A simulated Redis. It counts requests for rate limits, caches values, and notifies processes of changes. */
    readonly redis: SimulatedServer;
  }
>()("@accountlink/testing/Simulation") {}

/** A server behind a simulated network. If an answer is lost, the request may still have taken effect. */
export interface SimulatedServer {
  /** Refuses every connection. */
  isDown: boolean;
  /** Delays answers by up to this many milliseconds. */
  slowness: number;
  /** The share of messages lost in either direction, from 0 to 1. */
  loss: number;
}

export interface SimulatedProcess<A, E> {
  /** Ends the process between two operations, at any point of its program. */
  readonly kill: () => void;

  /**
   * Suspends the process until `thaw`.
   *
   * @param stopsClock also stops the monotonic clock, as on a suspended machine
   */
  readonly freeze: (stopsClock?: boolean) => void;

  readonly thaw: () => void;

  /** Moves the clock of the process by milliseconds, forward or back. */
  readonly setClock: (by: number) => void;

  /** Waits for the end of the program. Never ends for a killed process. */
  readonly exit: Effect.Effect<Exit.Exit<A, E | StartError>>;
}

export interface SimulationOptions {
  /** Decides the order of all events. */
  readonly seed: number;
  /** The initial data of the storage; empty by default. */
  readonly fixture?: Fixture;
  /** The maximum simulated time; an hour by default. */
  readonly longest?: Duration.Input;
}

const secret = Redacted.make(new Uint8Array(32).fill(7));

/**
 * Runs a story (a program) in a simulated world. The seed decides the order in which fibers run, so two runs with the
 * same seed are identical. Fibers may switch after every operation. The storage is behind a simulated network. When
 * nothing can run, the time jumps to the next timer. A story may wait only for effects, because a promise would never
 * resolve in a simulation.
 *
 * Rejects with the seed and the failure of the story.
 */
export const simulate = async <A, E>(
  story: Effect.Effect<A, E, Simulation>,
  { seed, fixture = aFixture(), longest = "1 hour" }: SimulationOptions,
): Promise<A> => {
  const unchanging = await Effect.runPromise(Effect.scoped(Layer.build(unchangingOf(fixture))));
  const world = new World(seed);
  const [postgres, redis] = [new Postgres(world), new Redis(world)];

  const start = <B, F>(name: string, program: Effect.Effect<B, F, Services>): SimulatedProcess<B, F> => {
    const process = new Process(world, name);
    const ended = Deferred.makeUnsafe<Exit.Exit<B, F | StartError>>();
    const ports = Context.mergeAll(unchanging, postgres.portsOf(process), redis.portsOf(process)).pipe(
      Context.add(Scope.Scope, Scope.makeUnsafe()),
    );
    const life = Effect.flatMap(Layer.build(services), (built) => Effect.provideContext(program, built));
    process.start(Effect.provideContext(life, ports), (exit) =>
      Deferred.doneUnsafe(ended, Effect.succeed(exit)),
    );
    return {
      kill: () => process.kill(),
      freeze: (stopsClock) => process.freeze(stopsClock),
      thaw: () => process.thaw(),
      setClock: (by) => process.setClock(by),
      exit: Deferred.await(ended),
    };
  };

  const prepared = Effect.gen(function* () {
    const loading = start("fixture", load(fixture));
    yield* yield* loading.exit;
    loading.kill();
  });
  const exits: Array<Exit.Exit<A, unknown>> = [];
  const told = Effect.andThen(prepared, story);
  const simulation = Simulation.of({ start, chance: world.chance, postgres, redis });
  new Process(world, "story").start(Effect.provideService(told, Simulation, simulation), (exit) =>
    exits.push(exit),
  );
  world.run(() => exits.length > 0, Duration.toMillis(longest));
  const [exit] = exits;
  if (exit !== undefined && Exit.isSuccess(exit)) return exit.value;
  const cause = exit === undefined ? undefined : Cause.squash(exit.cause);
  throw new Error(`Seed ${seed}: ${String(cause)}`, { cause });
};

const unchangingOf = (fixture: Fixture) =>
  Layer.merge(surroundings(fixture), Secrets.layer.pipe(Layer.provide(Layer.succeed(RootKey, secret)))).pipe(
    Layer.provideMerge(cryptography),
  );
