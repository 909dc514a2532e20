import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { runUntil, startProxy } from "@accountlink/test-servers";
import { Effect } from "effect";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { printedBy, runInProcess, startInProcess, storageAt } from "../test_command_line.ts";
import { makeWorkplace, startServer } from "../test_program.ts";
import { makeShared, whyNothingShared } from "../test_shared.ts";

const missing = await whyNothingShared();

/** Starts a proxy to a database. The proxy resets connections until `restore` is called. */
const makeCutWay = async (databaseUrl: string) => {
  const url = new URL(databaseUrl);
  const proxy = await runUntil(onTestFinished)(startProxy(Number(url.port)));
  await Effect.runPromise(proxy.cut);
  url.port = String(proxy.port);
  return { url: url.href, restore: () => Effect.runPromise(proxy.restore) };
};

const says = (stream: Readable, words: string): Promise<void> => {
  const printed = printedBy(stream);
  return vi.waitFor(() => expect(printed()).toContain(words), { timeout: 60_000 });
};

describe.skipIf(missing !== null)(`several servers that start at once ${missing ?? ""}`, () => {
  it("nodes wait until a new database is reachable, fill it once with the fixture, and serve requests", async () => {
    const { database, environment } = await makeShared();
    const way = await makeCutWay(database.url);
    const { file } = await makeWorkplace();
    const user = { account: "acme", scope: "global", chatId: "100001" };
    const fixture = { links: [{ ...user, gameId: "1" }], sightings: [{ ...user, ip: "203.0.113.7" }] };
    const variables = {
      ...environment,
      ACCOUNTLINK_PLATFORM: "dev",
      ACCOUNTLINK_PORT: "0",
      ACCOUNTLINK_DATABASE_URL: way.url,
      ACCOUNTLINK_DATABASE_START_TIMEOUT: "1 minute",
      ACCOUNTLINK_FIXTURE: await file("fixture.json", JSON.stringify(fixture)),
    };
    const servers = [1, 2, 3].map(() => startInProcess(["serve"], variables));
    onTestFinished(async () => void (await Promise.all(servers.map(({ stop }) => stop()))));
    await Promise.all(servers.map(({ stderr }) => says(stderr, "Waiting up to 1m: Cannot use database")));
    const toListen = servers.map(({ stdout }) => says(stdout, "listening on "));
    await way.restore();
    await Promise.all(toListen);
    const rows = await Effect.runPromise(database.query("SELECT game_id FROM links"));
    expect(rows).toEqual([{ game_id: "1" }]);
    const seen = await Effect.runPromise(database.query("SELECT chat_id, address_key_id FROM sightings"));
    expect(seen).toEqual([{ chat_id: "100001", address_key_id: "secret" }]);
  });

  it("each node writes a log line in JSON if the database does not start in time", async () => {
    const { database, environment } = await makeShared();
    const ended = await runInProcess(["serve"], {
      ...environment,
      ACCOUNTLINK_PLATFORM: "dev",
      ACCOUNTLINK_PORT: "0",
      ACCOUNTLINK_DATABASE_URL: (await makeCutWay(database.url)).url,
      ACCOUNTLINK_DATABASE_START_TIMEOUT: "500 millis",
    });
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 1, stdout: "" });
    const lines = ended.stderr.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      {
        level: "WARN",
        message: expect.stringMatching(/^Waiting up to 500ms: Cannot use database/) as unknown,
      },
      { level: "ERROR", message: expect.stringMatching(/^Cannot use database .*ECONNRESET/) as unknown },
    ]);
  });
});

describe.skipIf(missing !== null)(`a storage that is another one than at the start ${missing ?? ""}`, () => {
  const readiness = async (url: string) => {
    const response = await fetch(`${url}/readyz`);
    const { failing, deployment } = (await response.json()) as Record<string, unknown>;
    return { status: response.status, failing, deployment };
  };

  it("an emptied Redis is not ready, and a start that names the deployment refuses it", async () => {
    const { redis } = await makeShared();
    const environment = {
      ...storageAt(redis.url),
      ACCOUNTLINK_PLATFORM: "none",
      ACCOUNTLINK_PORT: "0",
    };
    const { url, output } = await startServer(environment);
    const { status, deployment } = await readiness(url);
    expect(status).toBe(200);
    await Effect.runPromise(redis.ask("FLUSHALL"));
    expect(await readiness(url)).toEqual({ status: 503, failing: ["storage"], deployment });
    await readiness(url);
    expect(output().split("Cannot use the storage: it is empty")).toHaveLength(2);

    const named = { ...environment, ACCOUNTLINK_DEPLOYMENT: String(deployment) };
    const refused = await runInProcess(["serve"], named);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^Cannot start: .* is empty, expected/m),
    ]);
    // A server that is not told the deployment makes another root key.
    await startServer(environment);
    expect(await readiness(url)).toEqual({ status: 503, failing: ["storage"], deployment });
    expect((await runInProcess(["serve"], named)).stderr).toContain("but the storage is of deployment");
  });

  it("a server whose schema a newer release has migrated is not ready", async () => {
    const { database, environment } = await makeShared();
    const { url, output } = await startServer({
      ...environment,
      ACCOUNTLINK_PLATFORM: "none",
      ACCOUNTLINK_PORT: "0",
    });
    expect((await readiness(url)).status).toBe(200);
    const query = "INSERT INTO schema_migrations (migration_id, name) VALUES (999, 'next')";
    await Effect.runPromise(database.query(query));
    expect(await readiness(url)).toMatchObject({ status: 503, failing: ["storage"] });
    expect(output()).toContain("its schema is version 999");
  });
});

it("a data folder whose database was lost or emptied is refused, until --new begins anew", async () => {
  const { dataFolder, environment, json, run, serve } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const refusal = `Cannot start: data folder "${dataFolder}" holds a secret, but its database is missing or empty, expected the database of the secret (accountlink restore), or serve --new to begin anew\n`;
  const file = join(dataFolder, "accountlink.db");
  const secret = { ACCOUNTLINK_SECRET: (await readFile(join(dataFolder, "secret"), "utf8")).trim() };
  await rm(file);
  expect(await run("serve")).toEqual({ code: 1, stdout: "", stderr: refusal });
  await writeFile(file, "");
  const refused = await runInProcess(["serve"], { ...environment, ...secret });
  expect(refused).toEqual({ code: 1, stdout: "", stderr: refusal });
  const { stop } = await startServer({ ...environment, ...secret }, "--new");
  await stop();
  // The folder holds a database again.
  await serve();
});
