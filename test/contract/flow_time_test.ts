/** Expired verification flows. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type FlowBrowser, formOf } from "../support/flow_browser.ts";
import type { Answer } from "../support/http.ts";
import { expectPage, useFlowServer } from "./flow_server.ts";

// A busy machine takes more than ten seconds to walk the flow.
const { setup, gameOf } = useFlowServer({ ACCOUNTLINK_SESSION_TTL: "20 seconds" });
const title = "This verification has expired";

const untilStatus = async (status: number, ask: () => Promise<Answer>): Promise<void> => {
  while ((await ask()).status !== status) await sleep(100);
};

const waysOn = async (browser: FlowBrowser, page: Answer, callback: string) => [
  await browser.post("/verify/confirm", formOf(page)),
  await browser.post("/verify/cancel", formOf(page)),
  await browser.get("/verify/game/start"),
  await browser.get(callback),
];

// The tests run concurrently, because each one waits for a session to expire.
test.concurrent("every page of a flow shows that its session has expired", async () => {
  const { browser, key, bySid, byPid } = await setup();
  const page = await browser.walk(bySid);
  const callback = await browser.signIn(await browser.leave("game"), "2");
  await untilStatus(410, () => browser.get(`/verify${bySid}`));
  const start = await browser.get(`/verify/chat/start${bySid}`);
  for (const answer of [start, ...(await waysOn(browser, page, callback))]) {
    expectPage(answer, 410, title, `href="/verify${byPid}"`);
  }
  expect(await gameOf(key)).toBe(null);
});

test.concurrent("the page of an ended session is gone once its deadline has passed too", async () => {
  const [done, cancelled] = [await setup(), await setup()];
  await done.browser.post("/verify/confirm", formOf(await done.browser.walk(done.bySid)));
  const page = await cancelled.browser.get(`/verify${cancelled.bySid}`);
  await cancelled.browser.post("/verify/cancel", formOf(page));
  const ended = [
    [done, "You are already done"],
    [cancelled, "This verification was cancelled"],
  ] as const;
  for (const status of [409, 410]) {
    await untilStatus(status, () => cancelled.browser.get(`/verify${cancelled.bySid}`));
    for (const [{ browser, bySid }, name] of ended)
      expectPage(await browser.get(`/verify${bySid}`), status, name);
  }
});

test.concurrent("every page of a flow without a session shows that the flow has expired, and the user can start again", async () => {
  const { browser, key, byPid } = await setup();
  const page = await browser.walk(byPid);
  const callback = await browser.signIn(await browser.leave("game"), "2");
  await untilStatus(410, () => browser.get("/verify/game/start"));
  const button = await browser.get(`/verify/game/start${byPid}`);
  for (const answer of [button, ...(await waysOn(browser, page, callback))]) {
    expectPage(answer, 410, title, `href="/verify${byPid}"`);
  }
  expect(await gameOf(key)).toBe(null);
  const again = await browser.get(`/verify${byPid}`);
  expectPage(again, 200, "Link your accounts");
  expect(again.text).not.toContain("User 1");
});
