import * as StoragePostgres from "@accountlink/sql/postgres";
import { startPostgres, whyNoPostgres } from "@accountlink/test-servers";
import { Effect, Redacted } from "effect";
import { describe, expect, it } from "vitest";
import { storageAt } from "./test_command_line.ts";
import { makeWorkplace, statusWith } from "./test_program.ts";
import { makeShared, whyNothingShared } from "./test_shared.ts";

const missing = await whyNothingShared();

const locationOf = (databaseUrl: string): string => databaseUrl.slice(databaseUrl.indexOf("@") + 1);

describe.skipIf(missing !== null)(`the commands on Postgres and Redis ${missing ?? ""}`, () => {
  it("commands work while servers run, and print the location of the database without its password", async () => {
    const { database, environment } = await makeShared();
    const { json, run, file, serve } = await makeWorkplace(environment);
    const location = locationOf(database.url);
    expect(await json("migrate")).toMatchObject({
      database: location,
      steps: expect.arrayContaining(["initial"]) as unknown,
    });
    expect((await run("migrate")).stdout).toBe(`The schema in database "${location}" is up to date\n`);

    const links = await file("links.csv", "chatId,gameId\n100001,1\n100002,2\n");
    const imported = await run("links", "import", links, "--account", "acme");
    expect(imported.stdout).toContain(
      `Imported 2 links into the global scope of account "acme" in database "${location}"`,
    );
    const created = await json("keys", "create", "--account", "acme", "--unlimited");
    expect(created).toMatchObject({ database: location });
    const key = String(created["token"]);

    const urls = await Promise.all([serve(), serve()]);
    for (const url of urls) expect(await statusWith(url, key)).toBe(200);
    await run("keys", "revoke", key);
    await expect.poll(() => Promise.all(urls.map((url) => statusWith(url, key)))).toEqual([401, 401]);
    const { stdout } = await run("links", "export", "--account", "acme");
    expect(stdout).toMatch(/^chatId,gameId,lastVerifiedAt\n100001,1,.*\n100002,2,.*\n$/);
    expect(await json("audit", "list", "--account", "acme", "--limit", "1")).toMatchObject({
      entries: [{ action: "key.status_changed" }],
    });
  });

  it("commands notify the servers of changes at once", async () => {
    const { redis, environment } = await makeShared();
    const { json, run } = await makeWorkplace(environment);
    const { id } = await json("keys", "create", "--account", "acme");
    const published = async () =>
      /cmdstat_publish:calls=(\d+)/.exec(await Effect.runPromise(redis.ask("INFO", "commandstats")))?.[1];
    expect(await published()).toBeUndefined();
    await run("keys", "revoke", String(id));
    expect(await published()).toBe("1");
  });

  it("a process prints nothing of the driver about a Redis user who may not ask for INFO", async () => {
    const { redis, environment } = await makeShared();
    const user = "on >password ~accountlink:* &accountlink:* +@all -@admin -@dangerous".split(" ");
    expect(await Effect.runPromise(redis.ask("ACL", "SETUSER", "narrow", ...user))).toBe("+OK\r\n");
    const { runProcess, json } = await makeWorkplace({
      ...environment,
      ACCOUNTLINK_REDIS_URL: redis.url.replace("//", "//narrow:password@"),
    });
    await json("keys", "create", "--account", "acme");
    expect(await runProcess("keys", "list")).toMatchObject({ code: 0, stderr: "" });
  });

  it("commands work while Redis is down", async () => {
    const { redis, environment } = await makeShared();
    const { json } = await makeWorkplace(environment);
    const { id } = await json("keys", "create", "--account", "acme");
    await Effect.runPromise(redis.kill);
    expect(await json("keys", "revoke", String(id))).toMatchObject({ id, status: "revoked", changed: true });
    expect(await json("keys", "list")).toMatchObject({ keys: [{ id, status: "revoked" }] });
  });

  it("a command that only reads refuses an empty database, and creates no tables", async () => {
    const { database, environment } = await makeShared();
    const { json } = await makeWorkplace(environment);
    expect(await json("keys", "list")).toEqual({
      error: `Cannot run the command: ACCOUNTLINK_DATABASE_URL leads to "${locationOf(database.url)}", which has no data of a server, expected a server's database`,
    });
    const tables = await Effect.runPromise(
      database.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'"),
    );
    expect(tables).toEqual([]);
  });
});

const missingPostgres = await whyNoPostgres();

it.skipIf(missingPostgres !== null)(
  `commands wait longer for a busy database than requests ${missingPostgres ?? ""}`,
  () =>
    Effect.gen(function* () {
      const { urlOf, freeze, thaw } = yield* startPostgres();
      const url = urlOf("postgres");
      const { json } = yield* Effect.promise(() => makeWorkplace(storageAt(url)));
      yield* Effect.promise(() => json("migrate"));
      yield* freeze;
      const listed = json("keys", "list");
      // `inspectPostgres` waits as long as a request does. The command must wait longer than two of these calls.
      const request = StoragePostgres.inspectPostgres({ url: Redacted.make(url) });
      yield* Effect.flip(request);
      yield* Effect.flip(request);
      yield* thaw;
      expect(yield* Effect.promise(() => listed)).toMatchObject({ keys: [] });
    }).pipe(Effect.scoped, Effect.runPromise),
);
