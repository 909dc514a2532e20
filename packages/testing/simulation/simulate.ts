/** A bot and the service in it, simulated from a seed. */

import type { Fixture } from "@accountlink/core";
import { ResilientCounters } from "@accountlink/core/limits";
import { RootKey, Secrets } from "@accountlink/core/secrets";
import { CacheMemory } from "@accountlink/memory";
import { Cause, Context, Deferred, Duration, Effect, Exit, Layer, Redacted, Scope } from "effect";
import { aFixture } from "../builders/fixture.ts";
import { load, servicesAfter, surroundings } from "../memory/services.ts";
import type { Chance } from "./chance.ts";
import { cryptography } from "./cryptography.ts";
import { Postgres, Redis } from "./ports.ts";
import { Process, World } from "./world.ts";

const services = servicesAfter(Effect.void).pipe(
  Layer.provideMerge(ResilientCounters.layer({ local: CacheMemory.layer })),
);

/** Every service and port of a simulated process. */
export type Services = Layer.Success<typeof services>;

/** Why they cannot start. */
type StartError = Layer.Error<typeof services>;

/** What a story is told with. */
export class Simulation extends Context.Service<
  Simulation,
  {
    /**
     * Starts a process: a program over services of its own, which work in the global scope of the account "acme" and
     * share their storage with those of all other processes. If that is not available, a process ends as it starts.
     */
    readonly start: <A, E>(name: string, program: Effect.Effect<A, E, Services>) => SimulatedProcess<A, E>;

    /** Everything random, from the seed. */
    readonly chance: Chance;

    /** Where links, keys and all else is that has to last. */
    readonly postgres: SimulatedServer;

    /** Where limits are counted, and through which processes tell each other of changes. */
    readonly redis: SimulatedServer;
  }
>()("@accountlink/testing/Simulation") {}

/** A server that processes reach over a network. What was asked of it may have happened although no answer came. */
export interface SimulatedServer {
  /** Whether it refuses every connection. */
  isDown: boolean;
  /** By how many milliseconds its answers are late, at most. */
  slowness: number;
  /** The share of messages that get lost, to it and from it, from 0 to 1. */
  loss: number;
}

/** A process that has been started. */
export interface SimulatedProcess<A, E> {
  /** Ends it between two operations, wherever it is. */
  readonly kill: () => void;

  /**
   * Lets it stand still until `thaw`.
   *
   * @param stopsClock whether its monotonic clock stands still, too, as that of a suspended machine
   */
  readonly freeze: (stopsClock?: boolean) => void;

  readonly thaw: () => void;

  /** Sets its clock forward or back, in milliseconds. */
  readonly setClock: (by: number) => void;

  /** Waits for the end of its program, which that of a killed process never has. */
  readonly exit: Effect.Effect<Exit.Exit<A, E | StartError>>;
}

export interface SimulationOptions {
  /** Decides what happens in which order. */
  readonly seed: number;
  /** What the storage begins with; empty by default. */
  readonly fixture?: Fixture;
  /** How long it may last in its own time, in which it never ends if nothing goes on; an hour by default. */
  readonly longest?: Duration.Input;
}

const secret = Redacted.make(new Uint8Array(32).fill(7));

/**
 * Tells a story in a world of its own: fibers run in an order that the seed decides, one may lose its turn after every
 * operation, the storage is behind a network, and time passes when nothing can run. Two runs of a seed are the same.
 * Effects alone take part in it: a promise never ends there.
 *
 * Rejects with what the story fails with, and with the seed.
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
