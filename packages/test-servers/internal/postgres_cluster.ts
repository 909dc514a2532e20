/** The files of a Postgres server, before it is started. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFile, chmod, chown, copyFile, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free_port.ts";
import { findPostgres, findPostgresWithTools, reachable } from "./postgres_programs.ts";
import type { Program } from "./supervised_process.ts";
import { type SystemUser, userOfServers } from "./system_user.ts";

/** What a server may be started with. */
export interface PostgresServerOptions {
  /** Lines of its configuration file. */
  readonly config?: ReadonlyArray<string>;
  /** Where it makes its folder; where temporary files are when left out. */
  readonly parent?: string;
  /** Files of a certificate for 127.0.0.1 and its key: it speaks TLS with those who ask for it. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** It has the tools of its version beside it, which the npm package lacks. */
  readonly tools?: boolean;
}

/** A server that is ready to be started, and how to reach it then. */
export interface PostgresCluster {
  readonly program: Program;
  /** The folder of its data. */
  readonly data: string;
  readonly port: number;
  /** The folder of its programs. */
  readonly programs: string;
  /** Of the user `postgres`. */
  readonly password: string;
}

/** The end of a server loses nothing that was answered; that of the machine might, which is faster. */
const testConfig = [
  "listen_addresses = '127.0.0.1'",
  "unix_socket_directories = ''",
  "fsync = off",
  "full_page_writes = off",
  "shared_buffers = 64MB",
];

/** Makes one in a temporary folder. */
export const makePostgresCluster = async ({
  config = [],
  parent = tmpdir(),
  tls,
  tools = false,
}: PostgresServerOptions): Promise<PostgresCluster> => {
  const found = tools ? findPostgresWithTools() : await findPostgres();
  if (found === null)
    throw new Error("Cannot start Postgres: there is none, expected whyNoPostgres to say so");
  const user = userOfServers();
  const folder = await makeFolder(parent, user);
  const { initdb, postgres } = await reachable(found, folder, user);

  const data = join(folder, "data");
  const password = randomBytes(12).toString("hex");
  await initialize(initdb, data, password, user);
  const lines = [...testConfig, ...config, `ssl = ${tls === undefined ? "off" : "on"}`];
  await writeFile(join(data, "postgresql.auto.conf"), linesOf(lines));
  if (tls !== undefined) {
    await copyFor(user, tls.certificate, join(data, "server.crt"));
    await copyFor(user, tls.key, join(data, "server.key"));
  }
  return clusterIn(folder, postgres, password, user);
};

/**
 * Makes a standby of one that was never started, in a temporary folder: what it lacks of it is yet to be written.
 *
 * @param port where it reaches the other
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
    // When it is the primary, it has no standby to wait for.
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
  // Killed, it would leave a segment of shared memory on the machine.
  const program: Program = { folder, command, user, endsBy: "QUIT" };
  return { program, data, port, programs: dirname(postgres), password };
};

const initialize = async (
  initdb: string,
  data: string,
  password: string,
  user: SystemUser | null,
): Promise<void> => {
  const passwordFile = `${data}.password`;
  await writeFile(passwordFile, password);
  const access = ["--username=postgres", `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
  // Another language than the bytes have, so that what depends on it and should not is found.
  const language = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
  const speed = ["--no-sync", "--no-instructions"];
  await run(initdb, ["-D", data, ...access, ...language, ...speed], {
    cwd: tmpdir(),
    ...user,
  });
};

/** The server wants to own its key, and nobody else to read it. */
const copyFor = async (user: SystemUser | null, from: string, to: string): Promise<void> => {
  await copyFile(from, to);
  await chmod(to, 0o600);
  if (user !== null) await chown(to, user.uid, user.gid);
};
