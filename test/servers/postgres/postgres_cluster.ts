/** Creates the files of a Postgres server, but does not start the server. */
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import {
  appendFile,
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../free_port.ts";
import type { Program } from "../supervised_process.ts";
import { type SystemUser, userOfServers } from "../system_user.ts";
import { findPostgres, findPostgresWithTools, reachable } from "./postgres_programs.ts";

export interface PostgresServerOptions {
  /** Lines of the configuration file. */
  readonly config?: ReadonlyArray<string>;
  /** The parent of the data folder; by default, the folder of temporary files. */
  readonly parent?: string;
  /** Files of a certificate for 127.0.0.1 and its key, to enable TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Whether to use an installation with tools such as `pg_dump`, which the npm package lacks. */
  readonly tools?: boolean;
}

/** The files of a server, and how to start it. */
export interface PostgresCluster {
  readonly program: Program;
  readonly data: string;
  readonly port: number;
  readonly programs: string;
  /** The password of the user `postgres`. */
  readonly password: string;
}

/** Settings for speed: data survives a crash of the server, but perhaps not a crash of the machine. */
const testConfig = [
  "listen_addresses = '127.0.0.1'",
  "unix_socket_directories = ''",
  "fsync = off",
  "full_page_writes = off",
  "shared_buffers = 64MB",
];

export const makePostgresCluster = async ({
  config = [],
  parent = tmpdir(),
  tls,
  tools = false,
}: PostgresServerOptions): Promise<PostgresCluster> => {
  const found = tools ? findPostgresWithTools() : await findPostgres();
  if (found === null)
    throw new Error("Cannot start Postgres: no program was found, expected the test to be skipped");
  const user = userOfServers();
  const folder = await makeFolder(parent, user);
  const { initdb, postgres } = await reachable(found, folder, user);

  const data = join(folder, "data");
  const template = await templateOf(initdb, folder, user);
  await run("cp", ["-a", join(template, "data"), data]);
  const password = await readFile(join(template, "data.password"), "utf8");
  const lines = [...testConfig, ...config, `ssl = ${tls === undefined ? "off" : "on"}`];
  await writeFile(join(data, "postgresql.auto.conf"), linesOf(lines));
  if (tls !== undefined) {
    await copyFor(user, tls.certificate, join(data, "server.crt"));
    await copyFor(user, tls.key, join(data, "server.key"));
  }
  return clusterIn(folder, postgres, password, user);
};

/**
 * Makes a standby from a copy of the primary's files. The primary has never run, so the copy is a complete backup.
 *
 * @param port the primary's port
 */
export const makeStandbyCluster = async (
  primary: PostgresCluster,
  port: number,
): Promise<PostgresCluster> => {
  const user = userOfServers();
  const folder = await makeFolder(tmpdir(), user);
  const data = join(folder, "data");
  await run("cp", ["-a", primary.data, data]);
  const source = `host=127.0.0.1 port=${port} user=postgres password=${primary.password}`;
  const lines = [
    `primary_conninfo = '${source}'`,
    "wal_retrieve_retry_interval = 100ms",
    // A promoted standby has no other standby to wait for.
    "synchronous_standby_names = ''",
  ];
  await appendFile(join(data, "postgresql.auto.conf"), linesOf(lines));
  await writeFile(join(data, "standby.signal"), "");
  return clusterIn(folder, join(primary.programs, "postgres"), primary.password, user);
};

const run = promisify(execFile);

const linesOf = (lines: ReadonlyArray<string>): string => lines.map((line) => `${line}\n`).join("");

const makeFolder = async (parent: string, user: SystemUser | null): Promise<string> => {
  const folder = await mkdtemp(join(parent, "accountlink-postgres-"));
  if (user !== null) await chown(folder, user.uid, user.gid);
  return folder;
};

const clusterIn = async (
  folder: string,
  postgres: string,
  password: string,
  user: SystemUser | null,
): Promise<PostgresCluster> => {
  const [data, port] = [join(folder, "data"), await freePort()];
  const command = [postgres, "-D", data, "-p", `${port}`];
  // SIGKILL would leave a segment of shared memory on the machine.
  const program: Program = { folder, command, user, endsBy: "QUIT" };
  return { program, data, port, programs: dirname(postgres), password };
};

const cache = join(import.meta.dirname, "../node_modules/.cache");

const initdbOptions = [
  "--username=postgres",
  "--auth=scram-sha-256",
  // Use a collation that does not sort by bytes, because tests must notice code that relies on the order of bytes.
  "--encoding=UTF8",
  "--locale=C",
  "--locale-provider=icu",
  "--icu-locale=en-US",
  "--no-sync",
  "--no-instructions",
];

/**
 * Returns a folder with the files and the password of a new cluster, from which clusters are copied. Since `initdb`
 * takes a second, it runs only once for each version of Postgres. If several processes run it at the same time, all
 * use the result of the first that finishes.
 *
 * @param folder a folder that the user can write to
 */
const templateOf = async (initdb: string, folder: string, user: SystemUser | null): Promise<string> => {
  const { stdout: version } = await run(initdb, ["--version"], { cwd: folder, ...user });
  const kind = [version, ...initdbOptions, user?.uid ?? process.getuid?.()].join("\n");
  const name = `postgres-${createHash("sha256").update(kind).digest("hex").slice(0, 16)}`;
  const template = join(cache, name);
  if (existsSync(template)) return template;

  const made = join(folder, "template");
  const data = join(made, "data");
  await mkdir(made, { mode: 0o755 });
  if (user !== null) await chown(made, user.uid, user.gid);
  await writeFile(`${data}.password`, randomBytes(12).toString("hex"));
  await run(initdb, ["-D", data, `--pwfile=${data}.password`, ...initdbOptions], { cwd: folder, ...user });
  await mkdir(cache, { recursive: true });
  const copy = await mkdtemp(join(cache, "making-"));
  await run("cp", ["-a", `${made}/.`, copy]);
  await rename(copy, template).catch(() => rm(copy, { recursive: true }));
  await rm(made, { recursive: true });
  return template;
};

/** Copies a TLS file. Postgres requires that its own user owns the key file, and that no other user can read it. */
const copyFor = async (user: SystemUser | null, from: string, to: string): Promise<void> => {
  await copyFile(from, to);
  await chmod(to, 0o600);
  if (user !== null) await chown(to, user.uid, user.gid);
};
