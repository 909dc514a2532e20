/** Tests that a service with an https public URL sends Strict-Transport-Security and Secure cookies. */
import { expect, test } from "vitest";
import { formOf, locationOf } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { useFlowServer } from "./flow_server.ts";
import { returnAs, setCookie } from "./site_server.ts";

const { newKey, newSession, newBrowser, send } = useFlowServer({
  ACCOUNTLINK_PUBLIC_URL: "https://links.example",
});
const key = newKey();

const lines = [
  "GET /v2/chat?chatId=100001",
  "OPTIONS /v2/chat",
  "GET /v2/chat?chatId=%",
  "GET /verify/style.css",
  "GET /healthz",
] as const;

// `envelope.ts` checks that a service with an http public URL never sends the header.
test.each(lines)("a service with https sends Strict-Transport-Security: %s", async (line) => {
  expect((await send(line, { key })).headers["strict-transport-security"]).toBe("max-age=31536000");
  expect((await send(line)).headers["strict-transport-security"]).toBe("max-age=31536000");
});

test.each(["dashboard", "me"] as const)("cookies of a service with https are Secure: %s", async (site) => {
  const name = { dashboard: "accountlink_session", me: "accountlink_me" }[site];
  const browser = newBrowser();
  const begun = await browser.get(`/${site}/sign-in`);
  const [, ...ofSignIn] = setCookie(begun, `__Host-accountlink_${site}_sign_in`);
  expect(ofSignIn).toEqual(["Path=/", "HttpOnly", "Secure", "SameSite=Lax"]);

  const { pathname, search } = new URL(await returnAs(browser, "100001", site));
  const finished = await browser.get(`${pathname}${search}`);
  expect([finished.status, locationOf(finished)]).toEqual([303, `/${site}`]);
  const [, ...attributes] = setCookie(finished, name);
  expect(attributes).toEqual(["Max-Age=43200", `Path=/${site}`, "HttpOnly", "Secure", "SameSite=Lax"]);
  expect((await browser.get(`/${site}`)).status).toBe(200);
});

test("the cookies of the verification flow are Secure on a service with https", async () => {
  const query = `?sid=${textOf((await newSession(key)).sid)}`;
  const browser = newBrowser();
  const page = await browser.get(`/verify${query}`);
  const [, ...attributes] = setCookie(page, "__Host-accountlink_flow");
  expect(attributes).toEqual(["Path=/", "HttpOnly", "Secure", "SameSite=Lax"]);
  for (const [step, user] of [
    ["chat", "100001"],
    ["game", "1"],
  ] as const) {
    const { pathname, search } = new URL(await browser.signIn(await browser.leave(step, query), user));
    await browser.get(`${pathname}${search}`);
  }
  const confirmed = await browser.post("/verify/confirm", formOf(await browser.get(`/verify${query}`)));
  const [, ...ofMark] = setCookie(confirmed, "accountlink_device");
  expect(ofMark).toEqual(["Max-Age=15552000", "Path=/verify", "HttpOnly", "Secure", "SameSite=Lax"]);
});
