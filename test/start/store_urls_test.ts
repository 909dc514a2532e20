/** The server starts with each form of URL of a store that the documents name. */
import { storageForms, storeForms } from "@accountlink/server/store_url";
import { storageAt } from "@accountlink/server/test_command_line";
import {
  makePostgresDatabase,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
  whyNoPostgresDatabase,
  whyNoRedis,
} from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { serverInScope } from "../support/server.ts";

const missing = (await whyNoRedis()) ?? (await whyNoPostgresDatabase());
const login = ["user ada on >pass ~* &* +@all"];

interface Values {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly master?: string;
  readonly ports: ReadonlyArray<number>;
}

/** Fills a form, once without its optional parts, but with the port, and once with all of them. */
const urlsOf = (form: string, { user, password, database, master = "", ports }: Values) => {
  const [first = 0, ...others] = ports;
  const more = others.map((port) => `,127.0.0.1:${port}`).join("");
  const named = form
    .replace(/host(?:\[:\d+\]|:port)/, `127.0.0.1:${first}`)
    .replace("[,host…]", `[${more}]`)
    .replace("/master", `/${master}`)
    .replace("user:password@", `${user}:${password}@`)
    .replace("[user]:password@", `${user}:${password}@`)
    .replace("/database", `/${database}`)
    .replace("sentinelUsername=…", `sentinelUsername=${user}`)
    .replace("sentinelPassword=…", `sentinelPassword=${password}`);
  return [named.replaceAll(/\[[^[\]]*\]/g, ""), named.replaceAll(/[[\]]/g, "")];
};

const valuesOf = (form: string) =>
  Effect.gen(function* () {
    const common = { user: "ada", password: "pass", database: "2" };
    const config = login;
    if (form.startsWith("redis+sentinel:")) {
      const { sentinels, master } = yield* startRedisSentinel({ sentinels: 3, config });
      const names = yield* sentinels[0]?.ask("SENTINEL", "MASTERS") ?? Effect.die("There is no sentinel");
      expect(names).toContain(String(master.port));
      return { ...common, master: "accountlink", ports: sentinels.map(({ port }) => port) };
    }
    if (form.startsWith("redis+cluster:")) {
      return { ...common, ports: (yield* startRedisCluster(config)).nodes.map(({ port }) => port) };
    }
    if (form.startsWith("redis:")) return { ...common, ports: [(yield* startRedis({ config })).port] };
    const { username, password, port, pathname } = new URL((yield* makePostgresDatabase()).url);
    return { user: username, password, database: pathname.slice(1), ports: [Number(port)] };
  });

const variablesOf = (url: string, isStorage: boolean): Readonly<Record<string, string>> =>
  isStorage
    ? storageAt(url)
    : { ACCOUNTLINK_STORAGE: "memory", ACCOUNTLINK_CACHE: "redis", ACCOUNTLINK_REDIS_URL: url };

testLive.each(missing === null ? storeForms : [])("serve starts with %s", function* (form) {
  const urls = urlsOf(form, yield* valuesOf(form));
  for (const url of new Set(urls)) {
    const places = [storageForms.includes(form), false].filter(
      (isStorage) => isStorage || url.startsWith("redis"),
    );
    for (const isStorage of new Set(places)) {
      const fixtures = makeFixtures();
      const key = fixtures.key();
      const env = variablesOf(url, isStorage);
      yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* serverInScope({ fixture: fixtures.fixture, env, usual: "memory" });
          const written = yield* Effect.promise(() =>
            server.send("PATCH /v2/game", { key, body: { chatId: "100001", gameId: "1" } }),
          );
          expect([url, written.status, server.output()]).toEqual([
            url,
            200,
            expect.not.stringContaining("pass"),
          ]);
          // On a busy machine, Redis may answer late for a moment.
          yield* Effect.promise(() =>
            eventually(async () => {
              const { body } = await server.send("GET /readyz");
              expect(body).toEqual({ status: "ready", deployment: expect.any(String) as unknown });
            }),
          );
        }),
      );
    }
  }
});
