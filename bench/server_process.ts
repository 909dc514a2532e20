/** Processes of the bench: servers and the load generator, each kept to one processor where the machine allows it. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Drive, DrivePlan } from "./drive.ts";
import { processorTimeOf } from "./processor_time.ts";

/** Whether processes can be told which processor to use. */
export const canPin = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0,1", "true"]).status === 0;

const processors = { server: "0", generator: "1" } as const;

/** The command of a process on the processor for its role. */
const pinned = (
  role: keyof typeof processors,
  args: ReadonlyArray<string>,
  program = process.execPath,
): [string, Array<string>] =>
  canPin ? ["taskset", ["-c", processors[role], program, ...args]] : [program, [...args]];

/** The load generator. */
export interface Generator {
  readonly drive: (plan: DrivePlan) => Promise<Drive>;
  readonly stop: () => void;
}

/** Starts the load generator. It stays, so that its code is compiled when it measures. */
export const startGenerator = (): Generator => {
  const [command, args] = pinned("generator", [join(import.meta.dirname, "drive.ts")]);
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`Cannot drive: the generator ended with ${code}`);
  });
  // Nobody may be waiting for it.
  ended.catch(() => {});
  return {
    drive: async (plan) => {
      child.send(plan);
      const [drive] = (await Promise.race([once(child, "message"), ended])) as [Drive];
      return drive;
    },
    stop: () => child.disconnect(),
  };
};

/** A server that listens. */
export interface RunningServer {
  readonly url: string;
  /** Milliseconds from its start to the ready line. */
  readonly startTime: number;
  /** Processor time that it has used so far, in seconds; null where the system does not tell. */
  readonly processorTime: () => number | null;
  /** Memory that it holds, in bytes; null where the system does not tell. */
  readonly memory: () => number | null;
  /** Tells it to stop and waits until it has. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a server and waits for its ready line.
 *
 * @param program what runs it, if that is not Node
 */
export const startServer = async (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  program?: string,
): Promise<RunningServer> => {
  const [command, commandArgs] = pinned("server", args, program);
  const started = performance.now();
  const child = spawn(command, commandArgs, {
    // Nothing of the caller's own settings may reach one server and not the other.
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  void ended.then(() => process.off("exit", kill));
  const url = await Promise.race([readyUrl(child), ended.then(neverReady)]);
  return {
    url,
    startTime: performance.now() - started,
    processorTime: () => processorTimeOf(child.pid),
    memory: () => memoryOf(child.pid),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
};

const readyUrl = ({ stdout }: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    let printed = "";
    stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      const url = /^listening on (\S+)$/m.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
  });

const neverReady = (code: number | null): never => {
  throw new Error(`Cannot start a server: it ended with ${code}, expected a ready line`);
};

/** The resident memory of a process in bytes, or null where that cannot be told. */
export const memoryOf = (pid: number | undefined): number | null => {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
  } catch {
    return null;
  }
};
