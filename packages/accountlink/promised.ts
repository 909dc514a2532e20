/** Wraps services with effects and streams into services with promises and async iterables. */
import { InternalError } from "@accountlink/core/errors";
import { Cause, Context, Effect, Exit, type Fiber, Option, Pull, Record, Scope, Stream } from "effect";
import { AccountLinkClosed, type AccountLinkError } from "./errors.ts";

/** Options with a signal that aborts the call. The promise then rejects with the reason of the signal. */
interface Abortable {
  readonly signal?: AbortSignal;
}

/** The arguments of a method. An object of options may also contain a `signal`. */
type PromisedArgs<Args extends ReadonlyArray<unknown>> = {
  [Index in keyof Args]: NonNullable<Args[Index]> extends string | number | ReadonlyArray<unknown>
    ? Args[Index]
    : Args[Index] & Abortable;
};

/** A service whose methods return promises instead of effects, and async iterables instead of streams. */
export type Promised<Service> = {
  readonly [Name in keyof Service]: Service[Name] extends (...args: infer Args) => infer Result
    ? Result extends Effect.Effect<infer A, infer _>
      ? (...args: PromisedArgs<Args>) => Promise<A>
      : Result extends Stream.Stream<infer A, infer _>
        ? (...args: PromisedArgs<Args>) => AsyncIterable<A>
        : never
    : never;
};

/** Wrapped services, by name. */
export type PromisedServices<Keys extends ServiceKeys> = {
  readonly [Name in keyof Keys]: Promised<Keys[Name]["Service"]>;
};

type ServiceKeys = Readonly<Record<string, Context.Key<unknown, object>>>;
type Method = (
  ...args: ReadonlyArray<unknown>
) => Effect.Effect<unknown, AccountLinkError> | Stream.Stream<unknown, AccountLinkError>;

/** Runs effects and returns promises, until the runner is closed. */
export class PromiseRunner {
  readonly #context: Context.Context<never>;
  readonly #running = new Set<Fiber.Fiber<unknown, unknown>>();
  #isClosed = false;

  constructor(context: Context.Context<never>) {
    this.#context = context;
  }

  /** Runs an effect. The promise rejects with the error of the effect itself, or with `InternalError` for a defect. */
  run<A, E>(effect: Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new AccountLinkClosed());
      if (signal?.aborted) return reject(signal.reason);
      const fiber = Effect.runForkWith(this.#context)(effect, signal === undefined ? {} : { signal });
      this.#running.add(fiber);
      fiber.addObserver((exit) => {
        this.#running.delete(fiber);
        if (Exit.isSuccess(exit)) resolve(exit.value);
        else reject(this.#reasonOf(exit.cause, signal));
      });
    });
  }

  /** Iterates over a stream. Each iteration runs the stream from its beginning. */
  async *iterate<A, E>(stream: Stream.Stream<A, E>, signal?: AbortSignal): AsyncGenerator<A, void> {
    const scope = Scope.makeUnsafe();
    try {
      const pull = await this.run(Scope.provide(Stream.toPull(stream), scope), signal);
      const next = Pull.catchDone(pull, () => Effect.succeed(null));
      for (let part = await this.run(next, signal); part !== null; part = await this.run(next, signal))
        yield* part;
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void));
    }
  }

  /** Wraps services. Their methods then return promises and async iterables. */
  promised<Keys extends ServiceKeys>(
    services: Context.Context<Keys[keyof Keys]["Identifier"]>,
    keys: Keys,
  ): PromisedServices<Keys> {
    const promised =
      (method: Method): ((...args: ReadonlyArray<unknown>) => unknown) =>
      (...args) => {
        const signal = signalIn(args);
        const result = method(...args);
        return isStream(result) ? this.iterate(result, signal) : this.run(result, signal);
      };
    return Record.map(keys, (key) =>
      Record.map(Context.getUnsafe(services, key) as Readonly<Record<string, Method>>, promised),
    ) as PromisedServices<Keys>;
  }

  /** Interrupts all running calls, and rejects later ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const running = [...this.#running];
    for (const fiber of running) fiber.interruptUnsafe();
    await Promise.all(running.map((fiber) => new Promise((resolve) => fiber.addObserver(resolve))));
  }

  #reasonOf(cause: Cause.Cause<unknown>, signal: AbortSignal | undefined): unknown {
    // An interrupted effect may fail during its cleanup, so check for the interruption first.
    if (Cause.hasInterrupts(cause)) {
      if (signal?.aborted) return signal.reason;
      if (this.#isClosed) return new AccountLinkClosed();
    }
    const failure = Cause.findErrorOption(cause);
    if (Option.isSome(failure)) return failure.value;
    return new InternalError({ cause: Cause.squash(cause) });
  }
}

const isStream = (result: object): result is Stream.Stream<unknown, AccountLinkError> =>
  Stream.isStream(result);

const signalIn = (args: ReadonlyArray<unknown>): AbortSignal | undefined =>
  args
    .map((arg) => (typeof arg === "object" && arg !== null && "signal" in arg ? arg.signal : undefined))
    .find((signal) => signal instanceof AbortSignal);
