/** The backup of docs/operating.md of a Redis that is the storage: made beside its server, loaded into another Redis. */
import { copyFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { storageAt } from "@accountlink/server/test_command_line";
import { findRedisClient, type RedisServer, startRedis, whyNoRedis } from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { blocksOf, readDocument } from "../docs/document.ts";
import { runShell } from "../docs/shell.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { serverInScope } from "../support/server.ts";

const missing = await whyNoRedis();
const client = await findRedisClient();
const folder = useFolder();
const backup = () => join(folder, "accountlink.rdb");

const blocks = blocksOf(readDocument("docs/operating.md")).filter(({ text }) =>
  text.includes("redis-cli -h"),
);
const blockWith = (part: string): string => blocks.find(({ text }) => text.includes(part))?.text ?? "";

const fileOf = (redis: RedisServer) =>
  Effect.map(redis.ask("INFO", "server"), (info) => /config_file:(\S+)/.exec(info)?.[1] ?? "");

/** Types commands that are documented for another server. */
const type = (commands: string, { port }: RedisServer, file: string) =>
  Effect.promise(() =>
    runShell(
      commands
        .replaceAll("-h 10.0.0.9", `-p ${port}`)
        .replaceAll("/etc/redis/redis.conf", file)
        .replaceAll("/var/lib/redis", dirname(file))
        .replaceAll("accountlink.rdb", backup()),
      {
        cwd: dirname(file),
        env: {
          ...(client?.env as Record<string, string>),
          PATH: `${dirname(client?.file ?? "")}${delimiter}${process.env["PATH"] ?? ""}`,
        },
      },
    ),
  );

testLive.skipIf(missing !== null)(
  `the documented commands copy a running Redis, and load the copy into another one ${missing ?? ""}`,
  function* () {
    const config = ["appendonly yes", "appendfsync always"];
    const [source, target] = [yield* startRedis({ config }), yield* startRedis({ config })];
    const fixtures = makeFixtures();
    const key = fixtures.key({ links: { 100001: "1" } });
    const serverOn = ({ url }: RedisServer, fixture: object) =>
      serverInScope({
        fixture,
        env: storageAt(url),
      });
    const first = yield* serverOn(source, fixtures.fixture);
    yield* type(blockWith("--rdb"), source, yield* fileOf(source));
    const set = { key, body: { chatId: "100001", gameId: "2" } };
    expect((yield* Effect.promise(() => first.send("PATCH /v2/game", set))).status).toBe(200);

    const file = yield* fileOf(target);
    yield* target.kill;
    yield* target.forget;
    yield* Effect.promise(() => copyFile(backup(), join(dirname(file), "dump.rdb")));
    yield* target.restart;
    expect(yield* target.ask("DBSIZE")).toBe(":0\r\n");
    yield* target.kill;
    yield* type(blockWith("--appendonly no"), target, file);
    yield* target.restart;
    const second = yield* serverOn(target, { platform: fixtures.fixture.platform });
    const found = yield* Effect.promise(() => second.send("GET /v2/chat?chatId=100001", { key }));
    expect(found.body["data"]?.["gameId"]).toBe("1");
  },
);
