import { verifyWebhook, type WebhookEvent } from "@accountlink/client";
import { freePort, runUntil, startHttpServer } from "@accountlink/test-servers";
import { expect, it, onTestFinished } from "vitest";
import { printedBy, runInProcess, startInProcess } from "./test_command_line.ts";
import { ask, embeddedIn, makeWorkplace, startServer } from "./test_program.ts";

/** Starts a server with a data folder of its own, a key, and a way to restart it on its port. */
const startService = async () => {
  const { json, dataFolder } = await makeWorkplace();
  const port = await freePort();
  const environment = {
    ...embeddedIn(dataFolder),
    ACCOUNTLINK_PORT: String(port),
    ACCOUNTLINK_FREE_PER_WINDOW: "0",
  };
  const first = await startServer(environment);
  const created = await json("keys", "create", "--account", "acme");
  const key = String(created["token"]);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    key,
    restart: async () => {
      await first.stop();
      await startServer(environment);
    },
    link: async (chatId: string) =>
      expect((await ask(url, key, "PATCH /v2/game", { chatId, gameId: "1" })).status).toBe(200),
  };
};

/** Starts a receiver that verifies each request, and refuses the events of one chat user. */
const startReceiver = async (secretOf: () => string, refused: string) => {
  const received: Array<WebhookEvent> = [];
  const receiver = startHttpServer(async ({ headers: sent, body }) => {
    const headers = new Headers(sent as Record<string, string>);
    const event = await verifyWebhook({ headers, text: async () => body }, secretOf());
    received.push(event);
    return { status: "chatId" in event.data && event.data.chatId === refused ? 500 : 204 };
  });
  const { url } = await runUntil(onTestFinished)(receiver);
  return { received, url: `${url}/hook` };
};

it("listen forwards each event once, signed, and misses none while the server restarts", async () => {
  const { url, key, restart, link } = await startService();
  let secret = "";
  const receiver = await startReceiver(() => secret, "100002");
  const command = startInProcess(["listen", "--forward", receiver.url], {
    ACCOUNTLINK_URL: url,
    ACCOUNTLINK_KEY: key,
  });
  onTestFinished(async () => void (await command.stop()));
  const printed = printedBy(command.stdout);
  await expect.poll(printed).toMatch(/signed with whsec_\S{44}\n/);
  secret = /whsec_\S+/.exec(printed())?.[0] ?? "";
  expect(printed()).not.toContain(key);

  await link("100001");
  await link("100002");
  await expect.poll(printed).toMatch(/link\.set  evt_\w+  204  \d+ ms\nlink\.set  evt_\w+  500  \d+ ms\n/);
  await restart();
  await link("100003");
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(receiver.received).toMatchObject([
    { type: "link.set", data: { chatId: "100001", gameId: "1", source: "api" } },
    { type: "link.set", data: { chatId: "100002" } },
    { type: "link.set", data: { chatId: "100003" } },
  ]);
  await expect.poll(printed).toMatch(/204  \d+ ms\n.*500.*\n.*204  \d+ ms\n$/);
});

it("listen prints JSON with --json, also if nobody listens at the address", async () => {
  const { url, key, link } = await startService();
  const forward = `http://localhost:${await freePort()}/hook`;
  const environment = { ACCOUNTLINK_URL: url, ACCOUNTLINK_KEY: key };
  const command = startInProcess(["listen", "--json", "--forward", forward], environment);
  onTestFinished(async () => void (await command.stop()));
  const printed = printedBy(command.stdout);
  await expect.poll(printed).toContain("whsec_");
  await link("100001");
  await expect.poll(() => printed().split("\n").length).toBe(3);
  const [begun, event] = printed()
    .split("\n")
    .slice(0, 2)
    .map((line) => JSON.parse(line) as object);
  expect(begun).toEqual({ url, forward, secret: expect.stringMatching(/^whsec_/) });
  expect(event).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: "link.set",
    status: null,
    error: "connection",
    ms: expect.any(Number),
  });
});

it("listen refuses a wrong key, a service that is away, a missing key and an address elsewhere", async () => {
  const { url, key } = await startService();
  const listen = (forward: string, environment: Readonly<Record<string, string>>) =>
    runInProcess(["listen", "--forward", forward], environment);
  const here = "http://127.0.0.1:3000/hook";
  const wrong = `${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`;
  const refused = [
    await listen(here, { ACCOUNTLINK_URL: url, ACCOUNTLINK_KEY: wrong }),
    await listen(here, { ACCOUNTLINK_URL: `http://127.0.0.1:${await freePort()}`, ACCOUNTLINK_KEY: key }),
    await listen(here, {}),
  ];
  expect(refused.map(({ code }) => code)).toEqual([1, 1, 1]);
  expect(refused.map(({ stderr }) => stderr)).toEqual([
    "Cannot read the events: Unauthorized: missing or invalid API key\n",
    expect.stringMatching(/^Cannot read the events: .*ECONNREFUSED/),
    "Cannot listen: ACCOUNTLINK_KEY is not set, expected an API key\n",
  ]);
  for (const forward of ["https://example.com/hook", "ftp://127.0.0.1/", "3000"]) {
    const { code, stderr } = await listen(forward, {});
    expect(code).toBe(2);
    expect(stderr).toContain("expected an http address of this machine, such as http://localhost:3000/hook");
  }
});
