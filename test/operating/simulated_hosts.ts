/**
 * Simulates the hosts of docs/operating.md on this machine: each is a loopback address and a folder with `/etc`,
 * `/opt` and `/root`. A simulated `ssh` enters the folder of a host, and a simulated `systemctl` runs its units.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { printedBy } from "@accountlink/server/test_command_line";
import { listenLocally } from "@accountlink/test-servers";

/** A service that the simulated `systemctl` starts and stops, such as Postgres. */
interface HostService {
  readonly start: () => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
}

export interface HostsOptions {
  /** The last number of each host's IP address. */
  readonly numbers: ReadonlyArray<number>;
  /** The number of the operator's host. The operator runs commands there, and reaches the other hosts by `ssh`. */
  readonly operator: number;
  /** By unit name. */
  readonly services?: Readonly<Record<string, HostService>>;
}

export type Hosts = Awaited<ReturnType<typeof makeHosts>>;

export const makeHosts = async ({ numbers, operator, services = {} }: HostsOptions) => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-hosts-"));
  // Services that run as other users read files in this folder.
  await chmod(folder, 0o755);
  // No other test uses this network, so the documented ports are free.
  const network = `127.${randomInt(1, 255)}.${randomInt(256)}`;
  const addressOf = (number: number) => `${network}.${number}`;
  const rootOf = (number: number) => join(folder, addressOf(number));
  const units = new Map<number, SimulatedUnit>();
  const journals = new Map<number, string>();
  /** Replaces the addresses and paths in a document's text with addresses and paths of the simulated hosts. */
  const here = (document: string, root = rootOf(operator)) =>
    document
      .replaceAll(/\b10\.0\.0\.(\d+)\b/g, `${network}.$1`)
      .replaceAll(/(?<![\w.])\/(etc|opt|var\/lib)\//g, `${root}/$1/`);
  const journalOf = (number: number) => `${journals.get(number) ?? ""}${units.get(number)?.output() ?? ""}`;

  const unitOf = (number: number): HostService => ({
    start: async () => {
      const unit = await readFile(join(rootOf(number), "etc/systemd/system/accountlink.service"), "utf8");
      units.set(number, await startUnit(here(unit, rootOf(number)), { ACCOUNTLINK_HOST: addressOf(number) }));
    },
    stop: async () => {
      const unit = units.get(number);
      if (unit === undefined) return;
      await unit.stop();
      journals.set(number, journalOf(number));
      units.delete(number);
    },
  });
  const control = async (number: number, words: string) => {
    const [, verb, names = ""] = /^(start|stop|restart|enable -q --now) (.+)$/.exec(words) ?? [];
    if (verb === undefined) throw new Error(`Cannot simulate "systemctl ${words}"`);
    for (const name of names.split(" ")) {
      const service = name === "accountlink" ? unitOf(number) : services[name];
      if (service === undefined) throw new Error(`Cannot simulate the service "${name}"`);
      if (verb === "stop" || verb === "restart") await service.stop();
      if (verb !== "stop") await service.start();
    }
  };

  const answer = async (request: IncomingMessage) => {
    const number = Number(request.url?.slice(1));
    if (request.method === "GET") return journalOf(number);
    await control(number, await text(request));
    return "";
  };
  const server = createServer((request, response) => {
    answer(request)
      .then((body) => response.end(body))
      .catch((error: unknown) => response.writeHead(500).end(`${String(error)}\n`));
  });
  const port = await listenLocally(server);

  const close = async () => {
    for (const unit of units.values()) await unit.kill();
    server.close();
    await rm(folder, { recursive: true });
  };
  try {
    await writePrograms(join(folder, "bin"), { ssh: sshOf(folder, rootOf(operator)) });
    for (const number of numbers) {
      const root = rootOf(number);
      for (const part of ["opt", "root", "etc/accountlink", "etc/systemd/system"]) {
        await mkdir(join(root, part), { recursive: true });
      }
      const asked = `curl -qsS --fail-with-body http://127.0.0.1:${port}/${number}`;
      await writePrograms(join(root, "bin"), {
        systemctl: `exec ${asked} --data-binary "$*"`,
        journalctl: `[ "$*" = "-u accountlink -o cat" ] && exec ${asked}`,
      });
    }
  } catch (error) {
    await close();
    throw error;
  }
  /** Folders to put in front of PATH on the operator's host. */
  const programs = [join(rootOf(operator), "bin"), join(folder, "bin")].join(delimiter);
  return { here, addressOf, rootOf, programs, journalOf, close };
};

/**
 * Returns a shell script that simulates `ssh`: it runs a command in the folder of the other host. In the command, the
 * script replaces paths of the operator's host with paths of the other host.
 */
const sshOf = (folder: string, operatorRoot: string): string => `host="${folder}/\${1#root@}"
shift
command=$(printf '%s' "$*" | sed "s|${operatorRoot}/|$host/|g")
cd "$host/root" && PATH="$host/bin:$PATH" exec sh -ec "$command"`;

export const writePrograms = async (
  folder: string,
  scripts: Readonly<Record<string, string>>,
): Promise<void> => {
  await mkdir(folder, { recursive: true });
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
};

interface SimulatedUnit {
  readonly output: () => string;
  /** Stops the service with the unit's signal and timeout. Returns the exit code, or null if the service was killed. */
  readonly stop: () => Promise<number | null>;
  readonly kill: () => Promise<unknown>;
}

/**
 * Starts a service, and returns at once.
 *
 * @param unit the text of the unit, with paths of this machine
 * @param env added to the unit's own variables
 */
const startUnit = async (unit: string, env: Readonly<Record<string, string>>): Promise<SimulatedUnit> => {
  const settingOf = (name: string) => {
    const [, value] = new RegExp(`^${name}=(.*)$`, "m").exec(unit) ?? [];
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
