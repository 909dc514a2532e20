import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isProof, runUntil, startHttpServer, startRedis } from "@accountlink/test-servers";
import { Effect } from "effect";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runInProcess, storageAt } from "./test_command_line.ts";
import { ask, embeddedIn, inDatabase, makeWorkplace, secretIn, type Workplace } from "./test_program.ts";
import { makeShared, whyNothingShared } from "./test_shared.ts";

const missing = await whyNothingShared();

const fill = async ({ json, runWith }: Pick<Workplace, "json" | "runWith">) => {
  const { token } = await json("keys", "create", "--account", "acme", "--kind", "staff", "--per-window", "0");
  const rows = "chatId,gameId\n100001,11\n100002,12\n";
  const imported = await runWith(rows, "links", "import", "--account", "acme", "--format", "csv", "-");
  expect(imported).toMatchObject({ code: 0 });
  return String(token);
};

/**
 * Makes a target as a killed move leaves it.
 *
 * @param place SQL of the place where the move was
 */
const unfinish = (folder: string, place: string, ...changes: ReadonlyArray<string>) =>
  inDatabase(
    join(folder, "accountlink.db"),
    [
      "CREATE TABLE moving (wrapped TEXT NOT NULL PRIMARY KEY, place TEXT)",
      `INSERT INTO moving SELECT wrapped, ${place} FROM root_key`,
      ...changes,
    ].join(";"),
  );

const unfinishAtEnd = (folder: string) =>
  unfinish(folder, `'{"table":"root_key","after":[1]}'`, "DELETE FROM storage_place");

const gameOf = async (url: string, token: string, chatId: string) => {
  const response = await ask(url, token, `GET /v2/chat?chatId=${chatId}`);
  const { data } = (await response.json()) as { readonly data?: { readonly gameId: string } };
  return data?.gameId;
};

const feedOf = async (url: string, token: string) => {
  const response = await ask(url, token, "GET /v2/events?from=oldest");
  return ((await response.json()) as { readonly data: { readonly cursor: string } }).data;
};

it("move copies a data folder to another one, and goes on where it was interrupted", async () => {
  const place = await makeWorkplace();
  const { folder, json, run, serve } = place;
  const token = await fill(place);
  const target = join(folder, "moved");
  const moved = await json("move", "--to", target);
  expect(moved).toMatchObject({ moved: { links: 2, keys: 1, root_key: 1 } });
  expect(await run("move", "--to", target)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("it was moved there before, expected servers on the target") as unknown,
  });

  // A move of an earlier release saved a place in another form.
  for (const saved of ["NULL", `'["links","pid","1"]'`, `'{"unit":"link","after":["pid","1"]}'`]) {
    unfinish(target, saved, "DELETE FROM root_key", "DELETE FROM links WHERE chat_id = '100002'");
    expect(await json("move", "--to", target)).toEqual(moved);
  }
  const url = await serve({ ACCOUNTLINK_DATA_DIR: target });
  expect(await gameOf(url, token, "100002")).toBe("12");
  await json("resume");
  // A target that holds data is refused, also one that a server uses.
  expect((await run("move", "--to", target)).stderr).toContain(
    "the target holds data, expected an empty one",
  );
  expect(await run("move", "--to", join(folder, "third"))).toMatchObject({ code: 0 });
});

it("move names what differs", async () => {
  const place = await makeWorkplace();
  await fill(place);
  const target = join(place.folder, "moved");
  await place.json("move", "--to", target);
  unfinish(target, "NULL", "UPDATE links SET game_id = '13' WHERE chat_id = '100001'");
  expect(await place.run("move", "--to", target)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("differ in links (2, 2)") as unknown,
  });
});

describe.skipIf(missing !== null)(`between servers ${missing ?? ""}`, () => {
  it("move waits for a statement that takes longer than one of a server may", async () => {
    const { database } = await makeShared();
    const place = await makeWorkplace();
    await fill(place);
    const onPostgres = await makeWorkplace(storageAt(database.url, secretIn(place.dataFolder)));
    await onPostgres.json("migrate");
    await Effect.runPromise(
      database.query(`
        CREATE FUNCTION wait() RETURNS trigger AS 'BEGIN PERFORM pg_sleep(1.8); RETURN NULL; END' LANGUAGE plpgsql;
        CREATE TRIGGER wait AFTER INSERT ON links EXECUTE FUNCTION wait()`),
    );
    expect(await place.json("move", "--to", database.url)).toMatchObject({ moved: { links: 2 } });
  });

  it("move copies a data folder to Redis, from there to Postgres, and back to a data folder", async () => {
    const { database, redis } = await makeShared();
    const networks = { ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" };
    const place = await makeWorkplace(networks);
    const token = await fill(place);
    const hook = await runUntil(onTestFinished)(startHttpServer(() => ({})));
    const { secret } = await place.json("webhooks", "create", "--account", "acme", "--url", `${hook.url}/a`);
    const secretOfPlace = secretIn(place.dataFolder);
    const onRedis = { ...storageAt(redis.url, secretOfPlace), ...networks };
    const onPostgres = { ...storageAt(database.url, secretOfPlace), ...networks };
    const back = join(place.folder, "back");
    const { moved } = await place.json("move", "--to", redis.url);
    expect(moved).toMatchObject({ links: 2, keys: 1, webhooks: 1, journal: 3 });
    expect(await (await makeWorkplace(onRedis)).json("move", "--to", database.url)).toMatchObject({ moved });
    const postgres = await makeWorkplace(onPostgres);
    // A new row has a number of its own.
    await postgres.json("keys", "create", "--account", "acme");
    expect(await postgres.json("move", "--to", back)).toMatchObject({
      moved: { ...(moved as object), keys: 2, key_secrets: 2, journal: 4 },
    });

    const url = await place.serve({ ACCOUNTLINK_DATA_DIR: back, ACCOUNTLINK_SECRET: secretOfPlace });
    const { cursor } = await feedOf(url, token);
    const removed = await ask(url, token, "DELETE /v2/game", { chatId: "100001" });
    expect(await removed.json()).toMatchObject({ data: { removedGameId: "11" } });
    // The webhook goes on after the events that were before it was made, with the secret that it had.
    await vi.waitFor(() => expect(hook.heard).toHaveLength(1), { timeout: 20_000 });
    const [{ body, headers: signed }] = hook.heard as [(typeof hook.heard)[0]];
    expect(new Webhook(String(secret)).verify(body, signed as Record<string, string>)).toMatchObject({
      type: "link.removed",
      data: { chatId: "100001", previousGameId: "11" },
    });
    const after = await ask(url, token, `GET /v2/events?cursor=${cursor}`);
    expect(await after.json()).toMatchObject({ data: { events: [{ type: "link.removed" }] } });
  });

  it.skipIf(!isProof)(
    "a killed move of 50,000 links goes on where it was, to Redis and to Postgres",
    async () => {
      const { database, redis } = await makeShared();
      const place = await makeWorkplace();
      await fill(place);
      const lines = Array.from({ length: 50_000 }, (_, index) => `${200_001 + index},${1 + index}`);
      const file = await place.file("links.csv", ["chatId,gameId", ...lines].join("\n"));
      await place.json("links", "import", "--account", "acme", file);
      const onRedis = await makeWorkplace(storageAt(redis.url, secretIn(place.dataFolder)));
      const keysInRedis = async () =>
        Number((await Effect.runPromise(redis.ask("ZCARD", "accountlink:store:names"))).slice(1));
      const linksInPostgres = async () => {
        const found = Effect.runPromise(database.query("SELECT COUNT(*) AS count FROM links"));
        const [row] = await found.catch(() => []);
        return Number((row as { readonly count?: unknown } | undefined)?.count ?? 0);
      };
      const seconds: Record<string, number> = {};
      for (const [from, to, copied, some] of [
        [place, redis.url, keysInRedis, 100_000],
        [onRedis, database.url, linksInPostgres, 20_000],
      ] as const) {
        const killed = from.start("move", "--to", to);
        while ((await copied()) < some) await setImmediate();
        killed.kill("SIGKILL");
        await once(killed, "exit");
        const before = performance.now();
        expect(await from.json("move", "--to", to)).toMatchObject({ moved: { links: 50_002 } });
        seconds[to] = (performance.now() - before) / 1_000;
      }
      console.log(seconds);
    },
  );

  it.each(["embedded", "postgres", "redis"])("a moved storage acts no more: %s", async (kind) => {
    const { database, redis } = await makeShared();
    const place = await makeWorkplace(
      kind === "embedded" ? {} : storageAt(kind === "redis" ? redis.url : database.url),
    );
    await fill(place);
    const third = join(place.folder, "third");
    await place.json("move", "--to", third);
    await place.json("resume");
    unfinishAtEnd(third);
    const target = join(place.folder, "moved");
    await place.json("move", "--to", target);
    const doctor = await place.run("doctor");
    expect(doctor.stdout).toMatch(/it was moved to data folder ".*moved" and acts on nobody since/);
    expect(doctor.stdout).toContain("Use that storage, or take this one back: accountlink resume");

    // A move that was killed before its target could be used goes on to its end.
    unfinishAtEnd(target);
    expect(await place.json("move", "--to", target)).toMatchObject({ moved: { links: 2 } });
    const another = await makeWorkplace({ ACCOUNTLINK_DATA_DIR: target });
    expect((await another.run("doctor")).stdout).not.toContain("acts on nobody");
    // Another target, whose move was cut off before, rests.
    await place.json("move", "--to", third);
    const copied = await makeWorkplace({ ACCOUNTLINK_DATA_DIR: third });
    expect((await copied.run("doctor")).stdout).toContain("acts on nobody");

    expect(await place.json("resume")).toMatchObject({ resumed: true, plans: [] });
    await place.json("keys", "list");
    await place.serve();
  });

  it("move copies a Redis to another", async () => {
    const [one, other] = await runUntil(onTestFinished)(Effect.all([startRedis(), startRedis()]));
    const place = await makeWorkplace(storageAt(one.url));
    const token = await fill(place);
    const { moved } = await place.json("move", "--to", other.url);
    expect(moved).toMatchObject({ keys: 1, root_key: 1 });
    expect((await place.run("move", "--to", other.url)).stderr).toBe(
      `Cannot move the data from database "${new URL(one.url).host}" to database "${new URL(other.url).host}": it was moved there before, expected servers on the target\n`,
    );
    const onOther = await makeWorkplace(storageAt(other.url));
    const url = await onOther.serve();
    expect(await gameOf(url, token, "100001")).toBe("11");
    const refused = await onOther.run("move", "--to", join(onOther.folder, "moved"));
    expect(refused.stderr).toContain("expected stopped servers");
    await Effect.runPromise(other.ask("HSET", "accountlink:store:values", "moving ", "1 half"));
    expect((await onOther.run("doctor")).stdout).toMatch(/^fail +database .*a move into it is not finished/m);
    expect((await onOther.run("serve")).stderr).toContain("a move into it is not finished");
  });
});

it.each([
  "postgre://user:hidden@host/db",
  "POSTGRES://user:hidden@host/db",
  "mysql://user:hidden@host/db",
  "redis+cluster://:hidden@one,two",
  "redis:/hidden",
])("move --to %s is refused, and nothing of it is repeated", async (to) => {
  const { folder, json, run } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const before = readdirSync(folder);
  const { code, stderr } = await run("move", "--to", to);
  const begins = `Cannot move the data: --to begins with "${to.split(":", 1)[0]}:"`;
  expect([code, stderr.slice(0, begins.length)]).toEqual([1, begins]);
  expect(stderr).toContain("or a folder");
  expect(stderr).not.toContain("hidden");
  expect(readdirSync(folder)).toEqual(before);
});

it("a move takes its target from ACCOUNTLINK_MOVE_TO, and no server starts on half of one", async () => {
  const place = await makeWorkplace();
  await fill(place);
  const target = join(place.folder, "moved");
  const mover = { ...embeddedIn(place.dataFolder), ACCOUNTLINK_MOVE_TO: target };
  const moved = await runInProcess(["move"], mover);
  expect(moved).toMatchObject({ code: 0, stdout: expect.stringContaining("moved") as unknown });
  unfinish(target, "NULL", "DELETE FROM root_key");
  const commands = ["serve", "doctor", "keys list", `move --to ${join(place.folder, "third")}`];
  for (const secret of [{ ACCOUNTLINK_SECRET: secretIn(place.dataFolder) }, {}]) {
    for (const command of commands) {
      const onTarget = { ...embeddedIn(target), ...secret };
      const { code, stdout, stderr } = await runInProcess(command.split(" "), onTarget);
      expect([command, code, stdout + stderr]).toEqual([
        command,
        1,
        expect.stringMatching(/a move into (it|the source) is not finished/),
      ]);
    }
  }
});
