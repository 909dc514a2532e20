import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { Effect, Schedule } from "effect";
import { type DebianServer, serverFinder } from "./debian_program.ts";
import { freePort } from "./free_port.ts";
import { skipReason } from "./skip_reason.ts";
import { failStart, SupervisedProcess } from "./supervised_process.ts";

interface BalancerKind extends DebianServer {
  readonly name: string;
  /** Returns the arguments that run the balancer in the foreground. */
  readonly argumentsFor: (config: string, folder: string) => ReadonlyArray<string>;
}

/** Returns the configuration of a balancer on this port of 127.0.0.1, with its files in this folder. */
type ConfigFor = (port: number, folder: string) => string;

interface BalancerOptions {
  /** Limit of open files; by default, the limit of this process. */
  readonly descriptors?: number;
}

const limitedTo = (descriptors: number) => ["sh", "-c", 'ulimit -n "$0" && exec "$@"', `${descriptors}`];

const makeBalancer = (kind: BalancerKind) => {
  const program = serverFinder(kind);
  const [packageName = ""] = kind.names;

  const prepare = async (configFor: ConfigFor, { descriptors }: BalancerOptions) => {
    const found = await program();
    if (found === null) {
      throw new Error(`Cannot start ${kind.name}: no program was found, expected the test to be skipped`);
    }
    const folder = await mkdtemp(join(tmpdir(), `accountlink-${packageName}-`));
    const port = await freePort();
    const path = join(folder, "balancer.conf");
    await writeFile(path, configFor(port, folder));
    const limited = descriptors === undefined ? [] : limitedTo(descriptors);
    const command = [...limited, found.file, ...kind.argumentsFor(path, folder)];
    // SIGKILL would end nginx but not its worker processes.
    return { port, folder, env: found.env, command, endsBy: "TERM" as const };
  };

  return {
    whyNone: async (): Promise<string | null> =>
      (await program()) === null
        ? skipReason(kind.name, `there is no ${packageName} on PATH, and no Debian package of it to unpack`)
        : null,

    start: Effect.fnUntraced(function* (configFor: ConfigFor, options: BalancerOptions = {}) {
      const { port, ...files } = yield* Effect.promise(() => prepare(configFor, options));
      const running = yield* Effect.acquireRelease(
        Effect.promise(() => SupervisedProcess.start(files)),
        (started) => Effect.promise(() => started.remove()),
      );
      yield* Effect.tryPromise(() => listens(port)).pipe(
        Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 3_000 }),
        Effect.catch(() => Effect.promise(() => failStart(`${kind.name}: it does not listen`, running))),
      );
      return port;
    }),
  };
};

const listens = async (port: number): Promise<void> => {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect").finally(() => socket.destroy());
};

const haproxy = makeBalancer({
  name: "HAProxy",
  names: ["haproxy"],
  path: "usr/sbin/haproxy",
  packages: ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"],
  argumentsFor: (config) => ["-db", "-f", config],
});

/** Returns null if HAProxy is available, else the reason, for titles of skipped tests. With CI=true, throws instead. */
export const whyNoHaproxy = haproxy.whyNone;

/**
 * Starts an HAProxy on a free port, and returns the port. It is stopped when the scope closes or this process ends.
 *
 * @param configFor returns a configuration with which HAProxy listens on the given port of 127.0.0.1
 */
export const startHaproxy = haproxy.start;

const nginx = makeBalancer({
  name: "nginx",
  names: ["nginx"],
  path: "usr/sbin/nginx",
  packages: ["nginx"],
  argumentsFor: (config, folder) =>
    ["-p", folder, "-c", config, "-e", "stderr"].concat("-g", `daemon off; pid ${folder}/nginx.pid;`),
});

/** Returns null if nginx is available, else the reason, for titles of skipped tests. With CI=true, throws instead. */
export const whyNoNginx = nginx.whyNone;

/**
 * Starts an nginx on a free port, and returns the port. It is stopped when the scope closes or this process ends.
 *
 * @param configFor returns a configuration with which nginx listens on the given port of 127.0.0.1, and keeps its files
 * in the given folder
 */
export const startNginx = nginx.start;

const pgbouncer = makeBalancer({
  name: "PgBouncer",
  names: ["pgbouncer"],
  path: "usr/sbin/pgbouncer",
  packages: ["pgbouncer", "libc-ares2"],
  argumentsFor: (config) => [config],
});

/** Returns null if PgBouncer is available, else the reason, for titles of skipped tests. With CI=true, throws instead. */
export const whyNoPgbouncer = pgbouncer.whyNone;

/**
 * Starts a PgBouncer on a free port, and returns the URL of the database through it. It is stopped when the scope
 * closes or this process ends.
 *
 * @param settings lines of its configuration file
 */
export const startPgbouncer = (databaseUrl: string, settings: ReadonlyArray<string>) => {
  const url = new URL(databaseUrl);
  const target = `host=${url.hostname} port=${url.port} user=${url.username} password=${url.password}`;
  return Effect.map(
    pgbouncer.start((port) =>
      [
        "[databases]",
        `* = ${target}`,
        "[pgbouncer]",
        "listen_addr = 127.0.0.1",
        `listen_port = ${port}`,
        "unix_socket_dir =",
        "auth_type = any",
        // PgBouncer refuses to run as root.
        ...(userInfo().uid === 0 ? ["user = nobody"] : []),
        ...settings,
        "",
      ].join("\n"),
    ),
    (port) => {
      url.port = `${port}`;
      return url.href;
    },
  );
};
