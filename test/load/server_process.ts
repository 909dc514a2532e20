/** Processes of the bench: servers and the load generator, each kept to one processor where the machine allows it. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Whether processes can be told which processor to use. */
export const canPin = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0,1", "true"]).status === 0;

const processors = { server: "0", generator: "1" } as const;

/** The command of a Node process on the processor for its role. */
export const pinned = (
  role: keyof typeof processors,
  args: ReadonlyArray<string>,
): [string, Array<string>] =>
  canPin ? ["taskset", ["-c", processors[role], process.execPath, ...args]] : [process.execPath, [...args]];

/** A server that listens. */
export interface RunningServer {
  readonly url: string;
  /** Processor time that it has used so far, in seconds; null where the system does not tell. */
  readonly processorTime: () => number | null;
  /** Tells it to stop and waits until it has. */
  readonly stop: () => Promise<void>;
}

/** Starts a server and waits for its ready line. */
export const startServer = async (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): Promise<RunningServer> => {
  const [command, commandArgs] = pinned("server", args);
  const child = spawn(command, commandArgs, {
    // Nothing of the caller's own settings may reach one server and not the other.
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const url = await Promise.race([readyUrl(child), ended.then(neverReady)]);
  return {
    url,
    processorTime: () => processorTimeOf(child.pid),
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

/** The kernel counts in hundredths of a second, whatever its own clock. */
const ticksPerSecond = 100;

const processorTimeOf = (pid: number | undefined): number | null => {
  try {
    // The name in parentheses may hold anything; the fields after it are numbered from 3.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return null;
  }
};
