/** Wraps services with effects and streams into services with promises and async iterables. */
import { InternalError } from "@accountlink/core/errors";
import {
  Cause,
  Context,
  Effect,
  Exit,
  type Fiber,
  Option,
  Predicate,
  Pull,
  Record,
  Scope,
  Stream,
  Struct,
} from "effect";
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

  /**
   * Runs an effect. The promise rejects with the error of the effect itself, or with `InternalError` for a defect.
   *
   * @param call made where the program called; the stack of the rejection begins there
   */
  run<A, E>(effect: Effect.Effect<A, E>, signal?: AbortSignal, call = new Error()): Promise<A> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new AccountLinkClosed());
      if (signal?.aborted) return reject(signal.reason);
      const fiber = Effect.runForkWith(this.#context)(effect, signal === undefined ? {} : { signal });
      this.#running.add(fiber);
      fiber.addObserver((exit) => {
        this.#running.delete(fiber);
        if (Exit.isSuccess(exit)) resolve(exit.value);
        else reject(this.#reasonOf(exit.cause, signal, call));
      });
    });
  }

  /** Iterates over a stream. Each iteration runs the stream from its beginning. */
  async *iterate<A, E>(
    stream: Stream.Stream<A, E>,
    signal?: AbortSignal,
    call = new Error(),
  ): AsyncGenerator<A, void> {
    const scope = Scope.makeUnsafe();
    const run = <B, F>(effect: Effect.Effect<B, F>) => this.run(effect, signal, call);
    try {
      const pull = await run(Scope.provide(Stream.toPull(stream), scope));
      const next = Pull.catchDone(pull, () => Effect.succeed(null));
      for (let part = await run(next); part !== null; part = await run(next)) yield* part;
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
        const signal = args.filter(isAbortable).find((arg) => arg.signal)?.signal;
        // Methods refuse options that they do not know.
        const result = method(...args.map((arg) => (isAbortable(arg) ? Struct.omit(arg, ["signal"]) : arg)));
        const call = new Error();
        return isStream(result) ? this.iterate(result, signal, call) : this.run(result, signal, call);
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

  #reasonOf(cause: Cause.Cause<unknown>, signal: AbortSignal | undefined, call: Error): unknown {
    // An interrupted effect may fail during its cleanup, so check for the interruption first.
    if (Cause.hasInterrupts(cause)) {
      if (signal?.aborted) return signal.reason;
      if (this.#isClosed) return new AccountLinkClosed();
    }
    const failure = Cause.findErrorOption(cause);
    const reason = Option.getOrElse(failure, () => new InternalError({ cause: Cause.squash(cause) }));
    return reason instanceof Error ? withCaller(reason, call) : reason;
  }
}

const isStream = (result: object): result is Stream.Stream<unknown, AccountLinkError> =>
  Stream.isStream(result);

/** Whether an argument is options with a signal. A request of Node's HTTP server, a file of links, has one of its own. */
const isAbortable = (arg: unknown): arg is { readonly signal: AbortSignal | undefined } =>
  Predicate.hasProperty(arg, "signal") &&
  !(Symbol.asyncIterator in arg) &&
  (arg.signal === undefined || arg.signal instanceof AbortSignal);

/** The stacks of errors before a caller was put in front; some errors are rejected with more than once. */
const ownStacks = new WeakMap<Error, string>();

const frame = /^\s+at |^.*@.*:\d+:\d+$/u;

/** Puts the program's own lines in front of the stack of an error, which was made in a fiber of its own. */
const withCaller = (error: Error, { stack: called = "" }: Error): Error => {
  const own = ownStacks.get(error) ?? error.stack ?? "";
  ownStacks.set(error, own);
  const lines = called.split("\n").filter((line) => frame.test(line) && !line.includes("promised."));
  const inner = own.split("\n").filter((line) => frame.test(line));
  error.stack = [`${error.name}: ${error.message}`, ...lines, ...inner].join("\n");
  return error;
};
