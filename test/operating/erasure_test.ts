/** The erasure of a user, as a dump of Postgres and Redis shows it. */
import { randomBytes } from "node:crypto";
import {
  freePort,
  makePostgresDatabase,
  startRedis,
  whyNoPostgresDatabase,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect, Schedule } from "effect";
import { describe, expect, it } from "vitest";
import { guild, makeFixtures } from "../support/fixtures.ts";
import { type FlowBrowser, formOf, locationOf, openBrowser } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";
import { rowsOf } from "../support/storage.ts";

const missing = (await whyNoPostgresDatabase()) ?? (await whyNoRedis());

/** The user to be erased, with names that nothing else has. */
const zora = { id: "987654321098765432", username: "zora_q", displayName: "Zora Quill" };
const traces = Object.values(zora);
const bob = "100002";

const fixtures = makeFixtures();
const key = fixtures.key({ tier: "premium", links: { [bob]: "1", 100003: "1" } });
const guildKey = fixtures.key({ guildId: guild, links: { [zora.id]: "2", [bob]: "2" } });
const owned = fixtures.key({ account: "zora_q's bots" });
const { platform } = fixtures.fixture;
const fixture = {
  ...fixtures.fixture,
  accounts: [{ name: "zora_q's bots", chatId: zora.id, tier: "free" }],
  platform: {
    ...platform,
    chatUsers: [...(platform?.chatUsers ?? []), zora],
    guilds: platform?.guilds?.map(({ members = [], ...rest }) => ({
      ...rest,
      members: [...members, { chatId: zora.id }],
    })),
  },
};

/** Every key of a Redis with what is in it, as one text. */
const dumpScript = `
local found = {}
for _, key in ipairs(redis.call("KEYS", "*")) do
  local kind = redis.call("TYPE", key).ok
  local value = key
  if kind == "string" then value = redis.call("GET", key)
  elseif kind == "hash" then value = table.concat(redis.call("HGETALL", key), " ")
  elseif kind == "set" then value = table.concat(redis.call("SMEMBERS", key), " ")
  elseif kind == "zset" then value = table.concat(redis.call("ZRANGE", key, 0, -1), " ")
  elseif kind == "list" then value = table.concat(redis.call("LRANGE", key, 0, -1), " ")
  else return redis.error_reply("Cannot dump a " .. kind) end
  found[#found + 1] = key .. " " .. value
end
return table.concat(found, "\\n")`;

/** Leaves something of the user in every place that there is. */
const live = async ({ send }: RunningServer, browser: FlowBrowser) => {
  const from = fixtures.address();
  const ask = async (line: `${string} ${string}`, body: object, of = key) => {
    const { status } = await send(line, { key: of, from, body });
    expect([line, Math.floor(status / 100)]).toEqual([line, 2]);
  };
  await ask("PATCH /v2/game", { chatId: zora.id, gameId: "3" });
  await ask("PUT /v2/alts/reviews", {
    chatId: zora.id,
    otherChatId: bob,
    verdict: "same",
    note: `${zora.displayName} again`,
  });
  await ask("POST /v2/sessions", { clientId: "client", chatId: zora.id });
  const session = await send("POST /v2/sessions", {
    key: guildKey,
    from,
    body: { clientId: "client", guildId: guild },
  });
  const page = await browser.walk(`?sid=${textOf(session.body.data?.["sid"])}`, zora.id, "1");
  expect((await browser.post("/verify/confirm", formOf(page))).status).toBe(200);
  await browser.prove("chat", zora.id, `?pid=${textOf(session.body.data?.["pid"])}&guildId=${guild}`);
  for (const site of ["dashboard", "me"]) {
    const authorize = locationOf(await browser.get(`/${site}/sign-in`));
    expect((await browser.get(await browser.signIn(authorize, zora.id))).status).toBe(303);
  }
  await ask("POST /v2/chat/bulk", { chatIds: [zora.id] });
};

/** What others see, which the erasure must not change. */
const seenByOthers = async ({ send }: RunningServer) => {
  const see = async (line: `GET ${string}`, of: string) => {
    const { status, body } = await send(line, { key: of, from: fixtures.address() });
    return [line, status, body.data];
  };
  return [
    await see(`GET /v2/chat?chatId=${bob}&resolved=true`, key),
    await see("GET /v2/game?gameId=1", key),
    await see(`GET /v2/chat?chatId=${bob}&guildId=${guild}`, guildKey),
    await see("GET /v2/alts?chatId=100003&explain=true", key),
  ];
};

const erasure = Effect.gen(function* () {
  const database = yield* makePostgresDatabase();
  const redis = yield* startRedis();
  const devPort = yield* Effect.promise(freePort);
  const server = yield* Effect.acquireRelease(
    Effect.promise(() =>
      startServerHere({
        fixture,
        env: {
          ACCOUNTLINK_STORAGE: "postgres",
          ACCOUNTLINK_DATABASE_URL: database.url,
          ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
          ACCOUNTLINK_CACHE: "redis",
          ACCOUNTLINK_REDIS_URL: redis.url,
          ACCOUNTLINK_DEV_PLATFORM_PORT: String(devPort),
        },
      }),
    ),
    (running) => Effect.promise(() => running.stop()),
  );
  const browser = openBrowser(() => server.url, fixtures.address());
  yield* Effect.addFinalizer(() => Effect.sync(browser.close));
  const contents = Effect.gen(function* () {
    // The feed tells its readers for 7 days whom to erase.
    const rows = (yield* rowsOf(database)).filter((row) => !row.includes("user.erased"));
    return [...rows, yield* redis.ask("EVAL", dumpScript, "0")].join("\n");
  });

  yield* Effect.promise(() => live(server, browser));
  const [before, seenBefore] = [yield* contents, yield* Effect.promise(() => seenByOthers(server))];
  const erased = yield* Effect.promise(async () => {
    const { csrf = "" } = formOf(await browser.get("/me/erase"));
    return browser.post("/me/erase", { csrf, confirm: "erase" });
  });
  const ownKey = yield* Effect.promise(() =>
    server.send(`GET /v2/chat?chatId=${bob}`, { key: owned, from: fixtures.address() }),
  );
  const seenAfter = yield* Effect.promise(() => seenByOthers(server));
  // The public profile is cached for 30 seconds, as every answer of a platform.
  const left = yield* Effect.map(contents, (text) => traces.filter((trace) => text.includes(trace))).pipe(
    Effect.repeat({ until: (found) => found.length === 0, schedule: Schedule.spaced("2 seconds") }),
    Effect.timeout("90 seconds"),
  );
  return { before, left, seenBefore, seenAfter, erased, ownKey };
});

describe.skipIf(missing !== null)(`an erasure ${missing ?? ""}`, () => {
  it("leaves no identifier or name of the user in Postgres or Redis, and others as they are", async () => {
    const { before, left, seenBefore, seenAfter, erased, ownKey } = await Effect.runPromise(
      Effect.scoped(erasure),
    );
    expect(traces.filter((trace) => !before.includes(trace))).toEqual([]);
    expect(erased.status).toBe(200);
    expect(left).toEqual([]);
    expect(ownKey.status).toBe(401);
    expect(seenAfter).toEqual(seenBefore);
  });
});
