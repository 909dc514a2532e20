/**
 * The cookie that marks a browser: set when a user confirms a link, reused when another user confirms there, and
 * forgotten on request.
 */
import { expect, test } from "vitest";
import { type FlowBrowser, formOf, locationOf } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import { expectPage, useFlowServer } from "./flow_server.ts";
import { setCookie } from "./site_server.ts";

const name = "accountlink_device";
const device = (answer: Answer) => setCookie(answer, name);

interface Explained {
  readonly matches: ReadonlyArray<{ readonly chatId: string; readonly evidence: ReadonlyArray<unknown> }>;
}

const { fixtures, send, newBrowser, newSession } = useFlowServer();
const newKey = () => fixtures.key({ tier: "premium" });
const [first, second, third, fourth] = [newKey(), newKey(), newKey(), newKey()];

/** Creates a session, signs in to both platforms, and opens the confirmation page. */
const walk = async (key: string, browser: FlowBrowser, chatId: string, asked: object = {}) => {
  const { sid } = await newSession(key, asked);
  const query = `?sid=${textOf(sid)}`;
  const answers = [
    await browser.get(`/verify${query}`),
    await browser.prove("chat", chatId, query),
    await browser.prove("game", chatId.slice(-1)),
    await browser.get(`/verify${query}`),
  ];
  return { answers, page: answers.at(-1) as Answer };
};

const confirm = async (key: string, browser: FlowBrowser, chatId: string, asked: object = {}) => {
  const { page } = await walk(key, browser, chatId, asked);
  return browser.post("/verify/confirm", formOf(page));
};

const alts = async (key: string, chatId: string) => {
  const answer = await send(`GET /v2/alts?chatId=${chatId}&explain=true`, { key });
  const { matches } = answer.body.data as unknown as Explained;
  return { text: answer.text, matches };
};

const openMe = async (browser: FlowBrowser, chatId: string) => {
  const back = await browser.signIn(locationOf(await browser.get("/me/sign-in")), chatId);
  await browser.get(back);
  return browser.get("/me");
};

test("the device cookie is set when a user confirms a link, and never before", async () => {
  const key = first;
  const browser = newBrowser();
  browser.cookies.set(name, "unreadable");
  const { answers, page } = await walk(key, browser, "100001");
  expect(answers.flatMap(device)).toEqual([]);
  const form = formOf(page);
  const refused = await browser.post("/verify/confirm", { ...form, csrf: "wrong" });
  expect([refused.status, device(refused)]).toEqual([403, []]);
  const confirmed = await browser.post("/verify/confirm", form);
  expectPage(confirmed, 200, "Your accounts are linked");
  const [value = "", ...attributes] = device(confirmed);
  expect(value).toMatch(/^accountlink_device=[\w-]{43}$/);
  expect(attributes).toEqual(["Max-Age=15552000", "Path=/verify", "HttpOnly", "SameSite=Lax"]);
});

test("the device cookie stays when another user signs in, as evidence that the two share a browser", async () => {
  const key = second;
  const [browser, other] = [newBrowser(), newBrowser()];
  const marked = device(await confirm(key, browser, "100001"));
  expect(device(await confirm(key, browser, "100002"))).toEqual(marked);
  expect(device(await confirm(key, other, "100003"))).not.toEqual(marked);

  const { text, matches } = await alts(key, "100001");
  const shared = { kind: "device", weight: expect.closeTo(0.7, 5), chatUsers: 2, gameId: null };
  const weight = expect.closeTo(0.805, 4) as unknown;
  expect(matches).toMatchObject([{ chatId: "100002", weight, evidence: [shared, { kind: "address" }] }]);
  expect(text).not.toContain(browser.cookies.get(name));
  // A user who links with the same browser in another scope is not reported as an alt.
  await confirm(third, browser, "100004");
  expect((await alts(key, "100001")).matches).toHaveLength(1);
});

test("/me forgets a browser for the signed-in user, but not for other users of the browser", async () => {
  const key = fourth;
  const browser = newBrowser();
  await confirm(key, browser, "100008");
  await confirm(key, browser, "100009");
  const mark = browser.cookies.get(name);
  const page = await openMe(browser, "100008");
  const until = new Date(Date.now() + 180 * 86_400_000).toISOString().slice(0, 10);
  expect(page.text).toContain(`Remembered until <time datetime="${until}">`);
  expect(page.text).not.toContain(mark);

  const { csrf = "" } = formOf(page);
  expect((await alts(key, "100008")).matches[0]?.evidence).toHaveLength(2);
  const forgotten = await browser.post("/me/browsers/forget", { csrf });
  expectPage(forgotten, 200, "Your browsers are forgotten");
  expect(device(forgotten)).toEqual([`${name}=`, "Max-Age=0", "Path=/verify", "HttpOnly", "SameSite=Lax"]);
  expect((await browser.get("/me")).text).not.toContain("Remembered");
  expect((await alts(key, "100008")).matches).toMatchObject([{ evidence: [{ kind: "address" }] }]);
  expect((await openMe(newBrowser(), "100009")).text).toContain("Remembered until");
});
