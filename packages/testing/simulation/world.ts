/**
 * A simulated world: processes, their fibers and the time, all in one thread. Random numbers decide the next task.
 * When no task can run, the time jumps to the next timer.
 */
import { Clock, Context, Duration, Effect, type Exit, Logger, Random, Scheduler } from "effect";
import { Chance } from "./chance.ts";
import { takeOver } from "./runtime.ts";

/** The simulated start time in milliseconds. It is noon, so that no daily limit resets during a simulation. */
const epoch = Date.UTC(2026, 0, 5, 12);

/** The simulated duration of a task, in milliseconds. */
const stepTime = 0.01;

interface Task {
  readonly process: Process;
  readonly run: () => void;
}

interface Timer extends Task {
  readonly at: number;
  isCancelled: boolean;
}

/** Runs the tasks of all processes in an order that the seed decides. @internal */
export class World {
  readonly chance: Chance;
  /** Milliseconds since the start of the simulation. */
  now = 0;
  /** The number of tasks that ran. */
  steps = 0;
  /** A hash of the order and times of all tasks, to compare two runs. */
  fingerprint = 0;
  #current: Process | null = null;
  readonly #ready: Array<Task> = [];
  /** The timers in order of descending time, so that the next timer is the last element. */
  readonly #timers: Array<Timer> = [];
  #untilYield = 0;

  constructor(seed: number) {
    this.chance = new Chance(seed);
  }

  /** Runs a task in a process after a delay in milliseconds. Returns a function that cancels it. */
  after(delay: number, process: Process, run: () => void): () => void {
    const timer = { at: this.now + delay, process, run, isCancelled: false };
    const timers = this.#timers;
    let [low, high] = [0, timers.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((timers[middle] as Timer).at > timer.at) low = middle + 1;
      else high = middle;
    }
    timers.splice(low, 0, timer);
    return () => {
      timer.isCancelled = true;
    };
  }

  schedule(task: Task): void {
    this.#ready.push(task);
  }

  /**
   * Decides whether a fiber yields after an operation. A fiber may yield after any operation, because a real machine
   * may suspend a thread anywhere.
   */
  yields(): boolean {
    if (this.#untilYield-- > 0) return false;
    this.#untilYield = this.chance.below(600);
    return true;
  }

  /** Runs until a condition holds; throws if it does not hold within `until` milliseconds. */
  run(isDone: () => boolean, until: number): void {
    const clocks = {
      wall: () => this.#current?.currentTimeMillisUnsafe() ?? epoch,
      monotonic: () => this.now,
    };
    const restore = takeOver(clocks, this.chance);
    try {
      while (!isDone()) {
        if (this.now > until) throw new Error(`Cannot end the simulation: it goes on after ${until} ms`);
        this.#step();
      }
    } finally {
      restore();
    }
  }

  #step(): void {
    const timer = this.#timers.at(-1);
    if (timer !== undefined && (timer.at <= this.now || this.#ready.length === 0)) {
      this.#timers.pop();
      this.now = Math.max(this.now, timer.at);
      if (!timer.isCancelled) this.#ready.push(timer);
      return;
    }
    if (this.#ready.length === 0) throw new Error("Cannot go on: nothing will ever happen again");
    const index = this.chance.below(this.#ready.length);
    const task = this.#ready[index] as Task;
    this.#ready[index] = this.#ready.at(-1) as Task;
    this.#ready.pop();
    if (!task.process.accepts(task)) return;
    this.steps++;
    this.now += stepTime;
    this.fingerprint = (Math.imul(this.fingerprint, 31) + index + Math.floor(this.now * 100)) | 0;
    this.#current = task.process;
    task.run();
    this.#current = null;
  }
}

/** A simulated process with its own clock, whose fibers run unless the process is frozen or dead. @internal */
export class Process implements Scheduler.Scheduler, Clock.Clock {
  readonly executionMode = "async";
  readonly world: World;
  readonly name: string;
  state: "running" | "frozen" | "dead" = "running";
  /** How far the wall clock is ahead of the world, in milliseconds. */
  #ahead = 0;
  #rate = 1;
  #since = 0;
  #parked: Array<Task> = [];
  /** How long the monotonic clock was stopped, in milliseconds. */
  #suspended = 0;
  #suspendedAt: number | null = null;
  readonly #dispatcher: Scheduler.SchedulerDispatcher;
  /** The services of all fibers of this process. */
  readonly context: Context.Context<never>;
  readonly #left: Array<() => void> = [];
  readonly #atOnce: Scheduler.Scheduler = {
    executionMode: "async",
    shouldYield: () => false,
    makeDispatcher: () => ({ scheduleTask: (run) => void this.#left.push(run), flush: () => {} }),
  };
  /** Like `context`, but a fiber that runs with these services yields only where it says so, until `finish` is called. */
  readonly uninterrupted: Context.Context<never>;

  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    this.#dispatcher = { scheduleTask: (run) => world.schedule({ process: this, run }), flush: () => {} };
    const { chance } = world;
    this.context = Context.empty().pipe(
      Context.add(Scheduler.Scheduler, this),
      Context.add(Clock.Clock, this),
      Context.add(Random.Random, {
        nextDoubleUnsafe: () => chance.fraction(),
        nextIntUnsafe: () => chance.bits(),
      }),
      Context.add(Logger.CurrentLoggers, new Set()),
    );
    this.uninterrupted = this.context.pipe(
      Context.add(Scheduler.PreventSchedulerYield, true),
      Context.add(Scheduler.Scheduler, this.#atOnce),
    );
  }

  /** Runs what fibers with the services of `uninterrupted` have put off. */
  finish(): void {
    for (let run = this.#left.shift(); run !== undefined; run = this.#left.shift()) run();
  }

  /** Whether a task may run now. Tasks of a frozen process run after it thaws. */
  accepts(task: Task): boolean {
    if (this.state === "frozen") this.#parked.push(task);
    return this.state === "running";
  }

  /** @param stopsClock also stops the monotonic clock, as on a suspended machine */
  freeze(stopsClock = false): void {
    if (this.state !== "running") return;
    this.state = "frozen";
    if (stopsClock) this.#suspendedAt = this.world.now;
  }

  thaw(): void {
    if (this.state !== "frozen") return;
    this.state = "running";
    if (this.#suspendedAt !== null) this.#suspended += this.world.now - this.#suspendedAt;
    this.#suspendedAt = null;
    for (const task of this.#parked.splice(0)) this.world.schedule(task);
  }

  kill(): void {
    this.state = "dead";
    this.#parked = [];
  }

  /** Moves the wall clock by milliseconds, forward or back. */
  setClock(by: number): void {
    this.#ahead += by;
  }

  /** Makes the clock run faster by this share, such as 0.01. */
  setRate(faster: number): void {
    this.#ahead = this.currentTimeMillisUnsafe() - epoch - this.world.now;
    this.#since = this.world.now;
    this.#rate = 1 + faster;
  }

  shouldYield(): boolean {
    return this.world.yields();
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return this.#dispatcher;
  }

  currentTimeMillisUnsafe(): number {
    const { now } = this.world;
    return epoch + Math.floor(now + this.#ahead + (now - this.#since) * (this.#rate - 1));
  }

  currentTimeNanosUnsafe(): bigint {
    return BigInt(this.currentTimeMillisUnsafe()) * 1_000_000n;
  }

  monotonicTimeNanosUnsafe(): bigint {
    return BigInt(Math.floor((this.world.now - this.#suspended) * 1e6));
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe());
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe());
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe());

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    const millis = Duration.toMillis(duration);
    if (!Number.isFinite(millis)) return Effect.never;
    return Effect.callback((resume) => {
      const cancel = this.world.after(Math.max(0, millis / this.#rate), this, () => resume(Effect.void));
      return Effect.sync(cancel);
    });
  }

  start<A, E>(effect: Effect.Effect<A, E>, onExit: (exit: Exit.Exit<A, E>) => void): void {
    this.world.schedule({
      process: this,
      run: () => {
        Effect.runForkWith(this.context)(effect).addObserver(onExit);
      },
    });
  }
}
