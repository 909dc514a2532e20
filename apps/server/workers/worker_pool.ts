/**
 * The worker processes: starts them, replaces those that end, and hands them connections.
 */
import { type ChildProcess, fork } from "node:child_process";
import type { AddressInfo, Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { GivenByShell } from "../cli/invocation.ts";
import { type Answers, Channel } from "./channel.ts";
import { Distribution, type Taker } from "./distribution.ts";
import type { Health, Questions, Service, ToPrimary, ToWorker, WorkerStart } from "./messages.ts";
import { replacementDelay } from "./replacement_delay.ts";
import { mergeMetrics } from "./worker_metrics.ts";
import { WriteTurns } from "./write_turns.ts";

const entryPoint = fileURLToPath(new URL("./worker_main.ts", import.meta.url));

/** How a worker ended that nobody had told to. */
interface UnexpectedEnd {
  readonly worker: number;
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** When another one takes its place, in milliseconds. */
  readonly replacedIn: number;
}

export interface WorkerPoolOptions {
  readonly size: number;
  readonly shell: GivenByShell;
  readonly devPlatform: WorkerStart["devPlatform"];
  /** What all workers share. */
  readonly cache: Answers<"cache">["cache"];
  /** The metrics of this process. */
  readonly metrics: () => string;
  readonly onServing: (worker: { readonly worker: number; readonly pid: number | undefined }) => void;
  readonly onUnexpectedEnd: (end: UnexpectedEnd) => void;
}

/** A process and what is known of it. */
interface WorkerProcess extends Taker {
  readonly id: number;
  readonly child: ChildProcess;
  readonly channel: Channel<ToWorker, ToPrimary, "metrics" | "cache">;
  /** Whether it can serve as soon as it knows the address; false once it has ended. */
  readonly prepared: Promise<boolean>;
  /** Resolves when it serves; null once it has ended. */
  readonly ready: Promise<Service | null>;
  readonly ended: Promise<void>;
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #distribution = new Distribution();
  readonly #writeTurns = new WriteTurns<WorkerProcess>(({ channel }, notice) =>
    channel.tell({ type: "turn", notice }),
  );
  readonly #replacements = new Set<NodeJS.Timeout>();
  #isStopping = false;
  #haveDrained = true;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /**
   * Starts all workers: the first alone, which loads the fixture.
   *
   * @returns false if one of them cannot start; it has printed why
   */
  async prepare(): Promise<boolean> {
    if (!(await this.#start(1, true).prepared)) return false;
    const others = Array.from({ length: this.#options.size - 1 }, (_, index) =>
      this.#start(index + 2, false),
    );
    const prepared = await Promise.all(others.map((worker) => worker.prepared));
    return !prepared.includes(false);
  }

  /** Lets all workers serve, or returns null if one of them cannot. */
  async open(address: AddressInfo): Promise<Service | null> {
    const workers = [...this.#workers.values()];
    for (const { channel } of workers) channel.tell({ type: "listening", address });
    const services = await Promise.all(workers.map(({ ready }) => ready));
    for (const worker of workers) void this.#replaceOnceEnded(worker, address, 0);
    return services.includes(null) ? null : (services[0] ?? null);
  }

  /** Hands a connection to a worker. */
  hand(socket: Socket): void {
    this.#distribution.hand(socket);
  }

  /** The metrics of all processes. */
  async metrics(): Promise<string> {
    const ofWorkers = await this.#ask("metrics");
    const texts = [...ofWorkers].map(([id, text]) => [String(id), text] as const);
    return mergeMetrics(new Map([["primary", this.#options.metrics()], ...texts]));
  }

  /** The health of the service. One worker is enough. */
  async health(): Promise<Health> {
    const all = [...(await this.#ask("health")).values()];
    return (
      all.find(({ failing }) => failing.length === 0) ?? all[0] ?? { failing: ["workers"], degraded: [] }
    );
  }

  /** Tells the workers to stop. They serve on. */
  stop(): void {
    this.#isStopping = true;
    for (const timer of this.#replacements) clearTimeout(timer);
    for (const { channel } of this.#workers.values()) channel.tell({ type: "stop" });
  }

  /**
   * Waits for the workers to end, once the port is closed.
   *
   * @returns whether all of them drained
   */
  async drain(): Promise<boolean> {
    const workers = [...this.#workers.values()];
    for (const { channel } of workers) channel.tell({ type: "closed" });
    await Promise.all(workers.map(({ ended }) => ended));
    this.#distribution.close();
    return this.#haveDrained;
  }

  /** The answers of those that answer. */
  async #ask<About extends "metrics" | "health">(
    question: About,
  ): Promise<ReadonlyMap<number, Questions[About]["answer"]>> {
    const answers = await Promise.all(
      [...this.#workers].map(async ([id, { channel }]) => [id, await channel.ask(question, null)] as const),
    );
    return new Map(answers.flatMap(([id, answer]) => (answer === null ? [] : [[id, answer]])));
  }

  #relay(from: WorkerProcess, signal: Extract<ToWorker, { readonly type: "signal" }>): void {
    for (const worker of this.#workers.values()) if (worker !== from) worker.channel.tell(signal);
  }

  #start(id: number, loadsFixture: boolean): WorkerProcess {
    const { shell, devPlatform, onServing } = this.#options;
    const child = fork(entryPoint, [...shell.words], {
      env: { ...shell.environment },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const prepared = Promise.withResolvers<boolean>();
    const ready = Promise.withResolvers<Service | null>();
    const ended = Promise.withResolvers<void>();
    const channel = new Channel<ToWorker, ToPrimary, "metrics" | "cache">(child, {
      onMessage: (message) => {
        switch (message.type) {
          case "prepared":
            return prepared.resolve(true);
          case "ready":
            onServing({ worker: id, pid: child.pid });
            this.#distribution.add(worker);
            return ready.resolve(message.service);
          case "turn":
            return this.#writeTurns.hear(worker, message.request);
          case "signal":
            return this.#relay(worker, message);
          case "taken":
            return this.#distribution.taken(worker, message.connection);
        }
      },
      answers: { metrics: () => this.metrics(), cache: this.#options.cache },
    });
    const worker: WorkerProcess = {
      id,
      child,
      channel,
      prepared: prepared.promise,
      ready: ready.promise,
      ended: ended.promise,
      take: (connection, socket) => channel.tell({ type: "connection", connection }, socket),
    };
    const end = () => {
      if (this.#workers.get(id) === worker) this.#workers.delete(id);
      this.#distribution.remove(worker);
      this.#writeTurns.remove(worker);
      prepared.resolve(false);
      ready.resolve(null);
      ended.resolve();
    };
    // A process that cannot be made has no exit.
    child.once("error", end);
    // Everything that it sent has arrived by then.
    child.once("close", end);
    this.#workers.set(id, worker);
    channel.tell({ type: "start", start: { id, loadsFixture, devPlatform } });
    return worker;
  }

  async #replaceOnceEnded(worker: WorkerProcess, address: AddressInfo, failures: number): Promise<void> {
    const startedAt = performance.now();
    await worker.ended;
    const { pid, exitCode: code, signalCode: signal } = worker.child;
    if (this.#isStopping) {
      if (code !== 0) this.#haveDrained = false;
      return;
    }
    const { delay, failures: inARow } = replacementDelay(failures, performance.now() - startedAt);
    this.#options.onUnexpectedEnd({ worker: worker.id, pid, code, signal, replacedIn: delay });
    const timer = setTimeout(() => {
      this.#replacements.delete(timer);
      void this.#replace(worker.id, address, inARow);
    }, delay);
    this.#replacements.add(timer);
  }

  async #replace(id: number, address: AddressInfo, failures: number): Promise<void> {
    const worker = this.#start(id, false);
    void this.#replaceOnceEnded(worker, address, failures);
    if (await worker.prepared) worker.channel.tell({ type: "listening", address });
  }
}
