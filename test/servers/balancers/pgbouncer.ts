import { userInfo } from "node:os";
import { Effect } from "effect";
import { makeBalancer } from "./balancer.ts";

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
