/**
 * The hosts of docs/operating.md, played on this machine: each is an address of it and a folder with its `/etc` and
 * `/opt`, in which a real server runs. An `ssh` on PATH leads to them.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { type ServerProcess, startServer } from "../support/server.ts";

/** What is on every host at the start. */
export interface HostsOptions {
  /** The last numbers of their addresses. */
  readonly numbers: ReadonlyArray<number>;
  /** Folders with a release, by their names in /opt. /opt/accountlink leads to the first. */
  readonly releases: Readonly<Record<string, string>>;
  /** The text of /etc/accountlink/accountlink.env. */
  readonly variables: string;
  readonly fixture: object;
}

/** Hosts at work. */
export interface Hosts {
  /** The address of a host in place of one of the documented network, 10.0.0.0/24. */
  readonly addressOf: (number: number) => string;
  /** A folder to put before PATH. */
  readonly programs: string;
  /** Exit codes of servers that were told to stop. */
  readonly exitCodes: ReadonlyArray<number | null>;
  readonly close: () => Promise<void>;
}

/** What `ssh` runs there knows the folders of the host, and asks this process as it would ask systemd. */
const sshOf = (folder: string): string => `#!/bin/sh
host="${folder}/\${1#root@}"
shift
command=$(printf '%s' "$*" | sed "s|/opt/|$host/opt/|g; s|/etc/|$host/etc/|g")
PATH="$host/bin:$PATH" exec sh -ec "$command"
`;

const expecting = (words: string, command: string): string => `#!/bin/sh
[ "$*" = "${words}" ] || { echo "Cannot play: $0 $*" >&2; exit 1; }
exec ${command}
`;

/** Starts the server on every host. */
export const startHosts = async ({ numbers, releases, variables, fixture }: HostsOptions): Promise<Hosts> => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-hosts-"));
  // No other test has this network, so ports can be those of the documents.
  const network = `127.${randomInt(1, 255)}.${randomInt(256)}`;
  const addressOf = (number: number) => `${network}.${number}`;
  const servers = new Map<string, ServerProcess>();
  const journals = new Map<string, string>();
  const exitCodes: Array<number | null> = [];

  const start = async (address: string) => {
    const host = join(folder, address);
    const env = parseEnv(await readFile(join(host, "etc/accountlink/accountlink.env"), "utf8"));
    const program = join(host, "opt/accountlink/apps/server/main.ts");
    const server = await startServer({
      fixture,
      program,
      env: { ACCOUNTLINK_HOST: address, ...(env as Readonly<Record<string, string>>) },
    });
    servers.set(address, server);
  };
  const journalOf = (address: string) =>
    `${journals.get(address) ?? ""}${servers.get(address)?.output() ?? ""}`;
  const stop = async (address: string) => {
    exitCodes.push((await servers.get(address)?.stop()) ?? null);
    journals.set(address, journalOf(address));
    servers.delete(address);
  };

  const restart = async (address: string) => {
    await stop(address);
    await start(address);
    return "";
  };
  const control = createServer(({ method, url = "" }, response) => {
    const address = url.slice(1);
    const answer = method === "POST" ? restart(address) : Promise.resolve(journalOf(address));
    answer
      .then((text) => response.end(text))
      .catch((error: unknown) => response.writeHead(500).end(String(error)));
  }).listen(0, "127.0.0.1");
  await once(control, "listening");
  const { port } = control.address() as AddressInfo;

  const close = async () => {
    await Promise.all([...servers.values()].map((server) => server.kill()));
    control.close();
    await rm(folder, { recursive: true });
  };

  const programs = join(folder, "bin");
  await mkdir(programs);
  await writeFile(join(programs, "ssh"), sshOf(folder), { mode: 0o755 });
  try {
    for (const address of numbers.map(addressOf)) {
      const host = join(folder, address);
      for (const part of ["bin", "opt", "etc/accountlink"])
        await mkdir(join(host, part), { recursive: true });
      const asked = `curl -sS --fail-with-body http://127.0.0.1:${port}/${address}`;
      for (const [name, text] of Object.entries({
        systemctl: expecting("restart accountlink", `${asked} -X POST`),
        journalctl: expecting("-u accountlink -o cat", asked),
      })) {
        await writeFile(join(host, "bin", name), text, { mode: 0o755 });
      }
      for (const [name, release] of Object.entries(releases)) await symlink(release, join(host, "opt", name));
      await symlink(join(host, "opt", Object.keys(releases)[0] ?? ""), join(host, "opt/accountlink"));
      await writeFile(join(host, "etc/accountlink/accountlink.env"), variables, { mode: 0o600 });
      await start(address);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { addressOf, programs, exitCodes, close };
};
