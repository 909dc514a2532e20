/** Starts servers and the load generator, each pinned to one processor if the machine allows it. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Drive, DrivePlan } from "./drive.ts";

export const canPin = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0,1", "true"]).status === 0;

const pinned = (processor: "0" | "1", args: ReadonlyArray<string>): [string, Array<string>] =>
  canPin ? ["taskset", ["-c", processor, process.execPath, ...args]] : [process.execPath, [...args]];

/**
 * Starts the process of the load generator. One process generates all loads in turn, so that its code is already
 * compiled when the next load begins.
 */
export const startGenerator = () => {
  const [command, args] = pinned("1", [join(import.meta.dirname, "drive.ts")]);
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`Cannot drive: the generator ended with ${code}`);
  });
  // Prevents an unhandled rejection if the generator ends while no load is being generated.
  ended.catch(() => {});
  return {
    drive: async (plan: DrivePlan): Promise<Drive> => {
      child.send(plan);
      const [drive] = (await Promise.race([once(child, "message"), ended])) as [Drive];
      return drive;
    },
    stop: () => child.disconnect(),
  };
};

/** A server that listens. Figures that the system does not report are null. */
export interface RunningServer {
  readonly url: string;
  /** Milliseconds from the start of the server to its ready line. */
  readonly startTime: number;
  /** Returns the processor time used so far, in seconds. */
  readonly processorTime: () => number | null;
  /** Returns the resident memory in bytes. */
  readonly memory: () => number | null;
  readonly stop: () => Promise<void>;
}

export const startServer = async (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): Promise<RunningServer> => {
  const [command, commandArgs] = pinned("0", args);
  const started = performance.now();
  // Leaves out the other variables of this process, which could influence the server.
  const env = { PATH: process.env["PATH"], ...environment };
  const child = spawn(command, commandArgs, { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  void ended.then(() => process.off("exit", kill));
  const ready = new Promise<string>((resolve) => {
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      const url = /^listening on (\S+)$/m.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const neverReady = ended.then((code) => {
    throw new Error(`Cannot start a server: it ended with ${code}, expected a ready line`);
  });
  const url = await Promise.race([ready, neverReady]);
  neverReady.catch(() => {});
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

/** The resident memory of a process in bytes. */
export const memoryOf = (pid: number | undefined): number | null => {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(
    orEmpty(() => readFileSync(`/proc/${pid}/status`, "utf8")),
  )?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
};

/** Processor time of a process and its children so far, in seconds. */
export const processorTimeOf = (pid: number | undefined): number | null => {
  const family = orEmpty(() => readdirSync("/proc").join(" "))
    .split(" ")
    .map(spentBy)
    .filter((spent) => spent.pid === pid || spent.parent === pid);
  return family.length === 0 ? null : family.reduce((sum, { seconds }) => sum + seconds, 0);
};

/**
 * Adds up the processor time of ended children, which the kernel reports in hundredths of a second, and of running
 * threads, which it reports in nanoseconds.
 */
const spentBy = (name: string) => {
  const folder = `/proc/${name}`;
  // Drop the first two fields, because the second, the program's name, may contain spaces. So `fields[0]` holds
  // field 3 of the documentation of `/proc`.
  const fields = orEmpty(() => readFileSync(`${folder}/stat`, "utf8").replace(/^.*\) /, "")).split(" ");
  let seconds = (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / 100;
  for (const thread of orEmpty(() => readdirSync(`${folder}/task`).join(" ")).split(" "))
    seconds +=
      Number.parseInt(orEmpty(() => readFileSync(`${folder}/task/${thread}/schedstat`, "utf8")) || "0") / 1e9;
  return { pid: Number(name), parent: Number(fields[1]), seconds };
};

/** Returns an empty text if `read` throws: the system may lack the file, or the process may have ended. */
const orEmpty = (read: () => string): string => {
  try {
    return read();
  } catch {
    return "";
  }
};
