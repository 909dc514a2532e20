/**
 * Types the blocks of "The first hour" in docs/operating.md into one shell of an empty machine, with real Postgres,
 * Redis and HAProxy. The document states the output of each block.
 */
import { cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import {
  findRedisClient,
  makeCertificate,
  type PostgresServer,
  type RedisServer,
  runUntil,
  startHaproxy,
  startPostgres,
  startRedis,
  whyNoCertificate,
  whyNoHaproxy,
  whyNoPostgresWithTools,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasProgram, openShell, type Shell } from "../docs/shell.ts";
import { copyClone } from "../start/fresh_clone.ts";
import { terminal } from "../start/npm_start.ts";
import { useFolder } from "../support/folder.ts";
import { type LivePlatforms, startLivePlatforms } from "../support/live_platforms.ts";
import { type Hosts, makeHosts, writePrograms } from "./simulated_hosts.ts";
import { stepsOf, typeSteps, withApplications } from "./typed_blocks.ts";

const steps = stepsOf("The first hour");

const whyNoHour = async (): Promise<string | null> => {
  for (const whyNone of [whyNoPostgresWithTools, whyNoRedis, whyNoHaproxy, whyNoCertificate]) {
    const reason = await whyNone();
    if (reason !== null) return reason;
  }
  for (const program of ["curl", "git", "jq", "npm", "tar"]) {
    if (!(await hasProgram(program))) return `without ${program}`;
  }
  return process.platform === "linux" ? null : "without several loopback addresses (Linux)";
};
const missing = await whyNoHour();

const front = 9;
const keeper = 8;

describe.skipIf(missing !== null)(`docs/operating.md: the first hour ${missing ?? ""}`, () => {
  const run = runUntil(afterAll);
  const folder = useFolder();
  let hosts: Hosts;
  let postgres: PostgresServer;
  let redis: RedisServer;
  let platforms: LivePlatforms;
  let shell: Shell;

  /** Starts HAProxy with the host's configuration, on a port that this user may open. */
  const makeHaproxy = () => {
    let started = Scope.makeUnsafe();
    const stop = async () => {
      await Effect.runPromise(Scope.close(started, Exit.void));
      started = Scope.makeUnsafe();
    };
    const start = async () => {
      const config = await readFile(join(hosts.rootOf(front), "etc/haproxy/haproxy.cfg"), "utf8");
      const { username, gid } = userInfo();
      const haproxy = startHaproxy((free) =>
        config
          .replace("bind :443 ", `bind 127.0.0.1:${free} `)
          .replace("  user haproxy\n  group haproxy\n", `  user ${username}\n  gid ${gid}\n`),
      );
      const port = await Effect.runPromise(Scope.provide(haproxy, started));
      // Make curl accept the self-signed certificate, and connect to HAProxy on this machine instead of the public
      // host.
      await writeFile(
        join(folder, ".curlrc"),
        `insecure\nconnect-to = "links.example.com:443:127.0.0.1:${port}"\n`,
      );
    };
    return { start, stop };
  };

  /** Replaces the documented addresses, ports, folders and platform credentials with those that the test uses. */
  const here = (block: string) =>
    hosts
      .here(
        withApplications(copyClone(block), platforms.env)
          .replace("10.0.0.0/24", "127.0.0.0/8")
          .replace(/(TRUSTED_PROXIES)=.+/, "$1=127.0.0.1"),
      )
      .replace("ACCOUNTLINK_HOST=0.0.0.0", `ACCOUNTLINK_HOST=${hosts.addressOf(front)}`)
      .replace("listen on 0.0.0.0", `listen on ${hosts.addressOf(front)}`)
      .replace(":5432", `:${postgres.port}`)
      .replace(":6379", `:${redis.port}`);

  const writeHost = async () => {
    const machine = hosts.rootOf(front);
    for (const part of ["postgresql/15/main", "redis", "haproxy", "letsencrypt/live/links.example.com"]) {
      await mkdir(join(machine, "etc", part), { recursive: true });
    }
    // These are Debian's default rules, with which Postgres refuses connections of the nodes.
    await writeFile(
      join(machine, "etc/postgresql/15/main/pg_hba.conf"),
      "host all postgres 127.0.0.1/32 scram-sha-256\n",
    );
    await writeFile(join(machine, "etc/redis/redis.conf"), "");
    const { certificate, key } = await run(makeCertificate);
    const certificates = join(machine, "etc/letsencrypt/live/links.example.com");
    await cp(certificate, join(certificates, "fullchain.pem"));
    await cp(key, join(certificates, "privkey.pem"));
  };

  beforeAll(async () => {
    const serviceOf = (server: () => { restart: Effect.Effect<void>; stop: Effect.Effect<void> }) => ({
      start: () => run(server().restart),
      stop: () => run(server().stop),
    });
    hosts = await makeHosts({
      numbers: [1, 2, keeper, front],
      operator: front,
      services: {
        postgresql: serviceOf(() => postgres),
        "redis-server": serviceOf(() => ({ restart: redis.restart, stop: redis.kill })),
        haproxy: makeHaproxy(),
      },
    });
    await writeHost();
    const etc = join(hosts.rootOf(front), "etc");
    const config = [`hba_file = '${etc}/postgresql/15/main/pg_hba.conf'`];
    postgres = await run(startPostgres({ tools: true, config }));
    redis = await run(startRedis({ config: [`include ${etc}/redis/redis.conf`] }));
    platforms = await startLivePlatforms();
    const client = await findRedisClient();
    const administrator = new URL(postgres.urlOf("postgres"));
    await writePrograms(join(hosts.rootOf(front), "bin"), {
      "apt-get": `case "$*" in
"update -qq" | "install -qq curl git haproxy jq openssl postgresql redis-server") ;;
*) exit 1 ;;
esac`,
      psql: `exec ${postgres.programs}/psql -p ${postgres.port} "$@"`,
      su: `[ "$1 $2 $3" = "- postgres -c" ] || exit
export PGHOST=127.0.0.1 PGUSER=postgres PGPASSWORD=${administrator.password}
exec sh -ec "$4"`,
      "redis-cli": `LD_LIBRARY_PATH=${client?.env["LD_LIBRARY_PATH"] ?? ""} exec ${client?.file} -p ${redis.port} "$@"`,
    });
    const { ACCOUNTLINK_PORT: _, ...env } = terminal();
    shell = openShell({
      cwd: folder,
      env: { ...env, CURL_HOME: folder, PATH: `${hosts.programs}:${env["PATH"]}` },
      folder,
      timeout: 240_000,
    });
  });

  afterAll(async () => {
    shell?.close();
    await hosts?.close();
    await platforms?.stop();
  });

  it("the documented steps start two nodes, create a key for both, and back up the secret", async () => {
    expect(steps.length).toBeGreaterThan(5);
    await typeSteps(shell, steps, here, () => [1, 2].map(hosts.journalOf).join("\n"));
  });

  const modeOf = async (number: number, path: string) =>
    ((await stat(join(hosts.rootOf(number), path))).mode & 0o777).toString(8);

  it("only their owner can read files with secrets, and every user can run the program of a node", async () => {
    for (const node of [1, 2]) {
      expect(await modeOf(node, "etc/accountlink/accountlink.env")).toBe("600");
      expect(await modeOf(node, "opt/accountlink/apps/server/main.ts")).toBe("644");
      expect(await modeOf(node, "opt/accountlink/tools/node")).toBe("755");
    }
    expect(await modeOf(keeper, "root/accountlink.secret")).toBe("600");
    expect(await modeOf(front, "etc/haproxy/certificate.pem")).toBe("600");
    expect((await stat(join(folder, "accountlink/accountlink.env"))).mode & 0o777).toBe(0o600);
  });
});
