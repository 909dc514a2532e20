/** Runs services as their systemd units say, without systemd. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { printedBy } from "@accountlink/server/test_command_line";

export interface SimulatedUnit {
  readonly output: () => string;
  /** Stops the service with the unit's signal and timeout. Returns the exit code, or null if the service was killed. */
  readonly stop: () => Promise<number | null>;
  readonly kill: () => Promise<unknown>;
}

/**
 * Starts a service, and returns at once.
 *
 * @param text the unit, with paths of this machine
 * @param env added to the unit's own variables
 */
export const startUnit = async (
  text: string,
  env: Readonly<Record<string, string>>,
): Promise<SimulatedUnit> => {
  const settingOf = (name: string) => {
    const [, value] = new RegExp(`^${name}=(.*)$`, "m").exec(text) ?? [];
    if (value === undefined) throw new Error(`Cannot start a unit: it has no ${name}`);
    return value;
  };
  const [program = "", ...args] = settingOf("ExecStart").split(" ");
  const variables = parseEnv(await readFile(settingOf("EnvironmentFile"), "utf8"));
  const child = spawn(program, args, {
    cwd: settingOf("WorkingDirectory"),
    env: { PATH: "/usr/bin:/bin", ...parseEnv(settingOf("Environment")), ...variables, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  await once(child, "spawn");
  const output = printedBy(child.stdout, child.stderr);
  const stop = async () => {
    const deadline = setTimeout(() => child.kill("SIGKILL"), Number(settingOf("TimeoutStopSec")) * 1_000);
    const exitCode = await end(child, settingOf("KillSignal") as NodeJS.Signals);
    clearTimeout(deadline);
    return exitCode;
  };
  return { output, stop, kill: () => end(child, "SIGKILL") };
};

const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
  return child.exitCode;
};
