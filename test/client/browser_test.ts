/**
 * Tests the client in a page and in a worker of a browser. The server of the page forwards the client's requests to the
 * service, and adds the API key.
 */
import { createServer, request } from "node:http";
import { fileURLToPath } from "node:url";
import { listenLocally } from "@accountlink/test-servers";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedBrowser } from "../browser/browser.ts";
import { useContractServer } from "../contract/contract_server.ts";

const { fixtures, url } = useContractServer({ ACCOUNTLINK_STREAM_MAX: "1 second" });
const key = fixtures.key({ links: { 100001: "1" } });

/** The program that the browser runs. */
const work = `
const client = createClient({ url: "/links" });
const created = await client.sessions.create({ clientId: "7" });
const states = [];
for await (const { state } of client.sessions.watch(created.sid)) {
  states.push(state);
  if (state === "pending") setTimeout(() => client.sessions.cancel(created.sid), 1_500);
}
const refusal = await client.links.set("100002", "404404").catch((error) => error);
const elsewhere = await createClient({ url: "SERVICE_URL", retryFor: 0 }).links.get("100001").catch((error) => error.code);
const found = {
  link: await client.links.get("100001"),
  written: await client.links.set("100002", "2"),
  states,
  refusal: refusal instanceof AccountLinkError && refusal.code,
  elsewhere,
};`;

/** The end of the program in the page, which then runs the program in a worker. */
const compare = `
const worker = new Worker("/worker.js", { type: "module" });
worker.onmessage = ({ data }) => { window.found = { page: found, worker: data }; };
worker.onerror = () => { window.found = "The worker failed"; };`;

let origin = "";
const server = createServer((incoming, outgoing) => {
  const path = incoming.url ?? "";
  if (path.startsWith("/links/")) {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
    const forwarded = request(
      url() + path.slice("/links".length),
      { method: incoming.method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      },
    );
    outgoing.once("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
    return;
  }
  const isScript = path.endsWith(".js");
  outgoing.setHeader("content-type", isScript ? "text/javascript" : "text/html; charset=utf-8");
  const head = 'import { AccountLinkError, createClient } from "/client.js";';
  const body = work.replace("SERVICE_URL", url());
  if (path === "/client.js") outgoing.end(bundle);
  else if (path === "/worker.js") outgoing.end(`${head}${body}postMessage(found);`);
  else
    outgoing.end(
      `<!doctype html><title>A page</title><script type="module">${head}${body}${compare}</script>`,
    );
});
let bundle = "";

beforeAll(async () => {
  const input = fileURLToPath(import.meta.resolve("@accountlink/client"));
  const built = await rolldown({ input, platform: "browser" });
  bundle = (await built.generate({ minify: true })).output[0].code;
  await built.close();
  origin = `http://127.0.0.1:${await listenLocally(server)}`;
});
afterAll(() => server.close().closeAllConnections());

const expected = {
  link: expect.objectContaining({ chatId: "100001", gameId: "1" }),
  written: expect.objectContaining({ gameId: "2" }),
  states: ["pending", "cancelled"],
  refusal: "INVALID_PARAMETER",
  // The browser blocks a direct request to the service, because the service has another origin than the page.
  elsewhere: "NETWORK_ERROR",
};

it("the client works in a page and in a worker", async () => {
  const page = await (await sharedBrowser()).newPage();
  await page.goto(`${origin}/`);
  const found = await page.waitForFunction(() => (globalThis as { readonly found?: unknown }).found);
  expect(await found.jsonValue()).toEqual({ page: expected, worker: expected });
  expect(await page.content()).not.toContain(key);
  await page.close();
});
