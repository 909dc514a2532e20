/**
 * What clients, users and operators get from a server on the embedded storage while its disk is full, and afterwards.
 */
import { join } from "node:path";
import { runInProcess } from "@accountlink/server/test_command_line";
import { freePort, mountSmallDisk, type SmallDisk, whyNoSmallDisk } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { returnAs } from "../contract/site_server.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { type FlowBrowser, formOf, openBrowser, titleOf } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import { patience } from "../support/patience.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const missing = await whyNoSmallDisk();

const fixtures = makeFixtures();
const key = fixtures.key({ account: "acme", tier: "premium", links: { 100001: "1" } });
const fixture = { ...fixtures.fixture, accounts: [{ name: "acme", chatId: "100001", tier: "premium" }] };

const scope = Scope.makeUnsafe();
const browsers: Array<FlowBrowser> = [];
let disk: SmallDisk;
let server: ServerProcess;
let env: Readonly<Record<string, string>>;

const folder = () => join(disk.folder, "data");
const fill = () => Effect.runPromise(disk.fill);
const free = () => Effect.runPromise(disk.free);
const start = (dataFolder = folder()) => startServer({ fixture, dataFolder, env });

const newBrowser = () => {
  const browser = openBrowser(() => server.url, fixtures.address());
  browsers.push(browser);
  return browser;
};

const setGame = (chatId: string, gameId: string, headers = {}) =>
  server.send("PATCH /v2/game", { key, headers, body: { chatId, gameId } });

const gameOf = async (chatId: string) => {
  const { status, body } = await server.send(`GET /v2/chat?chatId=${chatId}`, { key });
  return status === 200 ? textOf(body.data?.gameId) : status;
};

const newSession = async () =>
  textOf((await server.send("POST /v2/sessions", { key, body: { clientId: "c" } })).body.data?.sid);

/** The lines of the log about the full disk, and about requests that failed. */
const logLines = () =>
  server
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { message: string; level: string; annotations: { problem?: string } })
    .map(({ message, level, annotations: { problem = "" } }) => `${level} ${message} ${problem}`.trim())
    .filter((line) => /disk of the database is full|Request failed/.test(line));

beforeAll(async () => {
  if (missing !== null) return;
  disk = await Effect.runPromise(Scope.provide(mountSmallDisk(16), scope));
  env = { ACCOUNTLINK_DEV_PLATFORM_PORT: `${await freePort()}` };
  server = await start();
});
afterAll(async () => {
  for (const { close } of browsers) close();
  await server?.stop();
  await Effect.runPromise(Scope.close(scope, Exit.void));
});

/** What an answer is about: its status, and whether it says when to come again. */
const outline = ({ status, headers, text, body }: Answer) =>
  [status, headers["retry-after"], titleOf(text) || body.error?.code].filter((part) => part !== undefined);

const outage = [503, "1", "INTERNAL_ERROR"];
const outagePage = [503, "1", "This does not work right now"];

describe.skipIf(missing !== null)(`on a full disk ${missing ?? ""}`, () => {
  it("writes are refused, what is shown stays, and everything goes on where it was", async () => {
    const [proven, waiting] = [await newSession(), await newSession()];
    const [user, other, owner, signingIn, self] = Array.from({ length: 5 }, newBrowser) as [
      FlowBrowser,
      FlowBrowser,
      FlowBrowser,
      FlowBrowser,
      FlowBrowser,
    ];
    const confirmation = formOf(await user.walk(`?sid=${proven}`, "100005", "5"));
    await owner.get(await returnAs(owner, "100001"));
    await self.get(await returnAs(self, "100005", "me"));
    const callback = await returnAs(signingIn, "100001");
    const owned = formOf(await owner.get("/dashboard/account"));
    const own = { ...formOf(await self.get("/me/erase")), confirm: "erase" };
    for (const chatId of ["100002", "100003"]) expect((await setGame(chatId, "2")).status).toBe(200);

    await fill();
    await vi.waitFor(async () => expect(outline(await setGame("100002", "3"))).toEqual(outage), patience);
    const reading = new AbortController();
    const reads = readAll(reading.signal);
    const under = { "idempotency-key": "a-write" };
    const { send } = server;
    for (const answer of [
      await setGame("100003", "3"),
      await setGame("100004", "4", under),
      await send("DELETE /v2/game", { key, body: { chatId: "100001" } }),
      await send("POST /v2/sessions", { key, body: { clientId: "c" } }),
      await send(`DELETE /v2/sessions/${waiting}`, { key }),
    ]) {
      expect(outline(answer)).toEqual(outage);
    }
    for (const answer of [
      await other.get(`/verify/chat/start?sid=${waiting}`),
      await user.post("/verify/confirm", confirmation),
      await user.post("/verify/cancel", confirmation),
      await newBrowser().get("/dashboard/sign-in"),
      await signingIn.get(callback),
      await owner.post("/dashboard/keys", { ...owned, name: "New", scope: "global", access: "full" }),
      await owner.post("/dashboard/sign-out", owned),
      await self.post("/me/erase", own),
    ]) {
      expect(outline(answer)).toEqual(outagePage);
    }
    for (const [answer, title] of [
      [await other.get(`/verify?sid=${waiting}`), "Link your accounts"],
      [await user.get(`/verify?sid=${proven}`), "Is this right?"],
      [await owner.get("/dashboard"), "Overview – accountlink"],
      [await owner.get("/dashboard/keys"), "Keys – accountlink"],
      [await self.get("/me"), "Your links"],
    ] as const) {
      expect(outline(answer)).toEqual([200, title]);
    }
    const session = await send(`GET /v2/sessions/${waiting}`, { key });
    expect([session.status, session.body.data?.state]).toEqual([200, "pending"]);
    // A balancer that took the server out would end the lookups too.
    expect((await send("GET /readyz")).status).toBe(200);
    reading.abort();
    expect(await reads).toEqual(new Set(["1"]));
    const problem = "Cannot write: the disk of the database is full";
    expect(logLines()).toEqual([`ERROR ${problem}`]);

    await free();
    expect((await setGame("100004", "4", under)).status).toBe(200);
    expect(outline(await user.post("/verify/confirm", confirmation))).toEqual([
      200,
      "Your accounts are linked",
    ]);
    expect((await signingIn.get(callback)).headers.location).toBe("/dashboard");
    expect((await owner.post("/dashboard/sign-out", owned)).status).toBe(303);
    expect((await owner.get("/dashboard")).headers.location).toBe("/dashboard/sign-in");
    const links = await Promise.all(["100001", "100002", "100003", "100004", "100005"].map(gameOf));
    expect(links).toEqual(["1", "2", "2", "4", "5"]);
    await vi.waitFor(
      () => expect(logLines()).toEqual([`ERROR ${problem}`, `INFO This works again ${problem}`]),
      patience,
    );
    expect((await self.post("/me/erase", own)).status).toBe(200);
    expect(await gameOf("100005")).toBe(404);
  });

  it("a server that was killed starts and answers lookups, and keeps what it answered", async () => {
    expect((await setGame("100006", "6")).status).toBe(200);
    await server.kill();
    await fill();
    server = await start();
    expect(await gameOf("100006")).toBe("6");
    await vi.waitFor(async () => expect(outline(await setGame("100006", "7"))).toEqual(outage), patience);
    await free();
    expect((await setGame("100006", "8")).status).toBe(200);
  });

  it("one that was stopped says why it cannot start, and starts when there is room", async () => {
    expect(await server.stop()).toBe(0);
    await fill();
    const path = join(folder(), "accountlink.db");
    await expect(start()).rejects.toThrow(`\nCannot use database "${path}": database or disk is full\n`);
    await expect(start(join(disk.folder, "new"))).rejects.toThrow(
      /\nCannot (?:start: ACCOUNTLINK_DATA_DIR is ".*", expected a folder that can be made and written to \(ENOSPC.*\)|use database ".*": database or disk is full)\n$/,
    );
    const doctor = await runInProcess(["doctor"], {
      ACCOUNTLINK_STORAGE: "embedded",
      ACCOUNTLINK_DATA_DIR: folder(),
      ACCOUNTLINK_PLATFORM: "dev",
    });
    expect(doctor.stdout).toMatch(
      /^fail +database .*database or disk is full\n +Make room.*\nfail +disk +0 MiB free/m,
    );
    await free();
    server = await start();
    expect(await gameOf("100006")).toBe("8");
    expect((await setGame("100006", "9")).status).toBe(200);
  });
});

/** Reads one link until it is told to end; gives all that was found. */
const readAll = async (signal: AbortSignal) => {
  const found = new Set<string | number>();
  while (!signal.aborted) found.add(await gameOf("100001"));
  return found;
};
