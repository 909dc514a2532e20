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

test("every page shows its request ID; the confirmation page says why and how long addresses and devices are stored", async () => {
  const pages = await pagesOf(plain);
  for (const page of Object.values(pages)) {
    expect(page.text).toContain(`Request <code>${requestIdOf(page)}</code>`);
    expect(page.text).not.toContain("Privacy policy");
    expect(page.text).not.toContain("Contact:");
  }
  const { begun, asking, done } = pages;
  expect(begun.text).toContain("Sign in to the chat platform");
  expect(begun.text).not.toMatch(/IP address|recognizes this browser/);
  expect(asking.text).toContain(
    "your IP address (encrypted) and a cookie that recognizes this browser are stored for 180 days, to find other accounts of the same person",
  );
  expect(String(done.headers["set-cookie"])).toContain("_device=");
});

test("every page has the operator's names, privacy policy and contact, and says nothing of addresses that are not stored", async () => {
  const pages = await pagesOf(named);
  for (const page of Object.values(pages)) {
    expect(page.text).toContain('<a href="https://links.example/privacy?a=1&amp;b=2">Privacy policy</a>');
    expect(page.text).toContain('Contact: <a href="mailto:help@links.example">help@links.example</a>');
  }
  const { begun, refused, asking, done } = pages;
  expect(begun.text).toContain("Sign in to Ch&lt;at&gt;");
  expect(refused.text).toContain("Sign in to Ch&lt;at&gt; first, then to Game &amp; Co.");
  expect(asking.text).toContain("Account on Game &amp; Co");
  expect(asking.text).not.toMatch(/IP address|recognizes this browser/);
  expect(done.text).toContain("go back to Ch&lt;at&gt; or Game &amp; Co");
  expect(String(done.headers["set-cookie"])).not.toContain("_device=");
});
