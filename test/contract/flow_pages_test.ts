/** Request IDs, links and names on the pages of the flow. */
import { expect, test } from "vitest";
import { formOf } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import { useFlowServer } from "./flow_server.ts";

const plain = useFlowServer();
const named = useFlowServer({
  ACCOUNTLINK_CHAT_NAME: "Ch<at>",
  ACCOUNTLINK_GAME_NAME: "Game & Co",
  ACCOUNTLINK_PRIVACY_URL: "https://links.example/privacy?a=1&b=2",
  ACCOUNTLINK_CONTACT: "help@links.example",
  ACCOUNTLINK_SIGHTING_RETENTION: "0 seconds",
});

/** Opens pages of the verification flow from its start to its end, and returns the answers. */
const pagesOf = async ({ newKey, newSession, newBrowser }: typeof plain) => {
  const bySid = `?sid=${textOf((await newSession(newKey())).sid)}`;
  const browser = newBrowser();
  const begun = await browser.get(`/verify${bySid}`);
  const refused = await browser.get(`/verify/game/start${bySid}`);
  const unknown = await browser.get("/verify/nothing");
  const incomplete = await browser.get("/verify");
  const asking = await browser.walk(bySid);
  const done = await browser.post("/verify/confirm", formOf(asking));
  const other = `?sid=${textOf((await newSession(newKey())).sid)}`;
  const cancelled = await browser.post("/verify/cancel", formOf(await browser.walk(other)));
  return { begun, refused, unknown, incomplete, asking, done, cancelled };
};

const requestIdOf = ({ headers }: Answer) => textOf(headers["x-request-id"]);

test("refusal pages of the flow show their request ID, and other pages do not", async () => {
  for (const page of Object.values(await pagesOf(plain))) {
    expect(page.text.includes(`Request <code>${requestIdOf(page)}</code>`)).toBe(page.status >= 400);
    expect(page.text).not.toContain("Privacy policy");
    expect(page.text).not.toContain("Contact:");
  }
});

test("every flow page links the operator's privacy policy and contact", async () => {
  for (const page of Object.values(await pagesOf(named))) {
    expect(page.text).toContain('<a href="https://links.example/privacy?a=1&amp;b=2">Privacy policy</a>');
    expect(page.text).toContain('Contact: <a href="mailto:help@links.example">help@links.example</a>');
  }
});

test("every flow page uses the configured names of the platforms", async () => {
  const { begun, refused, asking, done } = await pagesOf(named);
  expect(begun.text).toContain("Sign in to Ch&lt;at&gt;");
  expect(refused.text).toContain("Sign in to Ch&lt;at&gt; first, then to Game &amp; Co.");
  expect(asking.text).toContain("Account on Game &amp; Co");
  expect(done.text).toContain("go back to Ch&lt;at&gt; or Game &amp; Co");
  expect((await pagesOf(plain)).begun.text).toContain("Sign in to the chat platform");
});

test("the confirmation page says why and how long the address and the device cookie are stored, if they are", async () => {
  const { begun, asking, done } = await pagesOf(plain);
  const unseen = await pagesOf(named);
  const marks = [done, unseen.done].map(({ headers }) => String(headers["set-cookie"]).includes("_device="));
  expect(marks).toEqual([true, false]);
  const sentence =
    "your encrypted IP address and a cookie that recognizes this browser are stored for 180 days to find other accounts of the same person";
  expect(asking.text).toContain(sentence);
  for (const { text } of [begun, unseen.asking]) {
    expect(text).not.toMatch(/IP address|recognizes this browser/);
  }
});
