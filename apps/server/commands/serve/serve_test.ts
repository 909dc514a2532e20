import type { Readable } from "node:stream";
import { runUntil, startProxy } from "@accountlink/test-servers";
import { Effect } from "effect";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { printedBy, runInProcess, startInProcess } from "../test_command_line.ts";
import { makeWorkplace } from "../test_program.ts";
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
    const listening = servers.map(({ stdout }) => says(stdout, "listening on "));
    await way.restore();
    await Promise.all(listening);
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
