/** A database or cache behind a simulated network. It may answer late, never, or after the node has stopped waiting. */
import { StoreUnavailable } from "@accountlink/core";
import { Effect, Exit } from "effect";
import { Process, type World } from "./world.ts";

/**
 * Whether a simulated server is running an operation. If that operation calls another one, the nested operation runs
 * directly, without the simulated network. One flag is enough, because every operation runs synchronously.
 */
let isHappening = false;

const happen = <A, E>(node: Process, run: Effect.Effect<A, E>): Exit.Exit<A, E> => {
  isHappening = true;
  try {
    const fiber = Effect.runForkWith(node.uninterrupted)(run);
    node.finish();
    const exit = fiber.pollUnsafe();
    return exit ?? Exit.die(new Error("Cannot simulate an operation that waits"));
  } finally {
    isHappening = false;
  }
};

type Method = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown>;

/** Returns a random time that a message takes on the network, in milliseconds. @internal */
export const latency = ({ chance }: World): number =>
  chance.happens(0.05) ? chance.between(2, 30) : chance.between(0.1, 2);

/** @internal */
export class Server extends Process {
  /** How long nodes wait for an answer, in milliseconds. */
  readonly #patience: number;
  /** Whether the server refuses every connection. */
  isDown = false;
  /** Delays answers by up to this many milliseconds. */
  slowness = 0;
  /** The share of messages lost in either direction, from 0 to 1. */
  loss = 0;
  /** The processes that cannot reach this server. */
  readonly cutOff = new Set<Process>();

  constructor(world: World, name: string, patience: number) {
    super(world, name);
    this.#patience = patience;
  }

  /** Decides whether a message to or from a node is lost. */
  loses(node: Process): boolean {
    return this.cutOff.has(node) || (this.loss > 0 && this.world.chance.happens(this.loss));
  }

  /** Runs an operation of a port atomically on this server. */
  call<A, E>(
    node: Process,
    operation: string,
    run: Effect.Effect<A, E>,
  ): Effect.Effect<A, E | StoreUnavailable> {
    const { world } = this;
    const unavailable = () => Exit.fail(new StoreUnavailable({ operation }));
    return Effect.suspend(() => {
      if (isHappening) return run;
      return Effect.callback<A, E | StoreUnavailable>((resume) => {
        const stopWaiting = world.after(this.#patience, node, () => resume(unavailable()));
        const answer = (exit: Exit.Exit<A, E | StoreUnavailable>) => {
          world.after(latency(world) + world.chance.fraction() * this.slowness, node, () => {
            stopWaiting();
            resume(exit);
          });
        };
        if (this.isDown) answer(unavailable());
        else if (!this.loses(node)) {
          world.after(latency(world), this, () => {
            if (this.isDown) return answer(unavailable());
            const exit = happen(node, run);
            if (!this.loses(node)) answer(exit);
          });
        }
        return Effect.sync(stopWaiting);
      });
    });
  }

  /** Returns a port (a service interface) whose operations run on this server. */
  port<Shape extends object>(node: Process, name: string, service: () => Shape): Shape {
    return new Proxy({} as Shape, {
      get: (_, operation) => {
        const method = () => Reflect.get(service(), operation) as Method;
        if (typeof method() !== "function") return undefined;
        const run = (...args: Parameters<Method>) => Effect.suspend(() => method()(...args));
        return (...args: Parameters<Method>) => this.call(node, `${name}.${String(operation)}`, run(...args));
      },
    });
  }
}
