/** Sign-in to the dashboard and to /me, and attacks on it. */
import { describe, expect, test } from "vitest";
import { formOf, titleOf } from "../support/flow_browser.ts";
import { returnAs, type Site, setCookie, useSiteServer } from "./site_server.ts";

const { newBrowser, signIn, platform, url, send } = useSiteServer();

const ada = "100001";
const bob = "100002";
const cookies = { dashboard: "accountlink_session", me: "accountlink_me" } as const;

test.each(["/verify?sid=vs_1&lang=de", "/me", "/dashboard/sign-in", "/go"] as const)(
  "on another name of the machine, %s leads to the public URL",
  async (path) => {
    const { host, port } = new URL(url());
    const onHost = (name: string) => send(`GET ${path}`, { headers: { host: name } });
    const led = await onHost(`localhost:${port}`);
    expect([led.status, led.headers.location]).toEqual([307, `${url()}${path}`]);
    for (const other of [host, "links.example", `links.example:${port}`, "localhost:1"])
      expect([other, (await onHost(other)).status]).not.toEqual([other, 307]);
  },
);

describe.each<Site>(["dashboard", "me"])("sign-in to /%s", (site) => {
  test("sign-in redirects to the platform with PKCE and a state that is stored in a cookie", async () => {
    const browser = newBrowser();
    const begun = await browser.get(`/${site}/sign-in`);
    expect(begun.status).toBe(302);
    expect(begun.headers["cache-control"]).toBe("no-store");
    const asked = Object.fromEntries(new URL(begun.headers.location ?? "").searchParams);
    expect(asked).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: `${url()}/${site}/callback`,
      scope: site === "dashboard" ? "identify guilds" : "identify",
      state: expect.stringMatching(/^[\w-]{43}$/),
    });
    const [cookie, ...attributes] = setCookie(begun, `accountlink_${site}_sign_in`);
    expect(cookie).toBe(`accountlink_${site}_sign_in=${asked["state"]}`);
    expect(attributes).toEqual(["Path=/", "HttpOnly", "SameSite=Lax"]);
  });

  test("sign-in sets a cookie for twelve hours with the path of the site", async () => {
    const browser = newBrowser();
    const finished = await browser.get(await returnAs(browser, ada, site));
    expect([finished.status, finished.headers.location]).toEqual([303, `/${site}`]);
    const [value, ...attributes] = setCookie(finished, cookies[site]);
    expect(value).toMatch(/^\w+=[\w-]{43}$/);
    expect(attributes).toEqual(["Max-Age=43200", `Path=/${site}`, "HttpOnly", "SameSite=Lax"]);
    expect(setCookie(finished, `accountlink_${site}_sign_in`)).toContain("Max-Age=0");
  });

  test("sign-in replaces planted and earlier cookies", async () => {
    const browser = newBrowser();
    const planted = "p".repeat(43);
    browser.cookies.set(cookies[site], planted);
    await signIn(ada, browser, site);
    const first = browser.cookies.get(cookies[site]) ?? "";
    expect(first).not.toBe(planted);
    await signIn(ada, browser, site);
    expect(browser.cookies.get(cookies[site])).not.toBe(first);
    const thief = newBrowser();
    for (const replaced of [planted, first]) {
      thief.cookies.set(cookies[site], replaced);
      const { headers } = await thief.post(`/${site}/sign-out`, {});
      expect(headers.location).toBe(`/${site}/sign-in?form=ended`);
    }
  });

  test("the newest twenty sign-ins of a user hold", async () => {
    const chatId = site === "me" ? "100019" : "100018";
    const browsers = [];
    for (let i = 0; i < 22; i++) browsers.push(await signIn(chatId, newBrowser(), site));
    const statuses = await Promise.all(
      browsers.map(async (browser) => (await browser.get(`/${site}`)).status),
    );
    expect(statuses).toEqual([303, 303, ...Array.from({ length: 20 }, () => 200)]);
  });

  test("a sign-in or its callback that is fetched ahead uses nothing up", async () => {
    const browser = newBrowser();
    const callback = await returnAs(browser, ada, site);
    for (const address of [`/${site}/sign-in`, callback]) {
      for (const ahead of [
        await browser.head(address),
        await browser.get(address, { purpose: "prefetch" }),
      ]) {
        expect([ahead.status, ahead.headers["set-cookie"]]).toEqual([204, undefined]);
      }
    }
    expect((await browser.get(callback)).status).toBe(303);
  });

  const used = [400, "This sign-in cannot be used"];

  test("a sign-in callback is accepted once, only in the browser that started the sign-in", async () => {
    const [browser, other] = [newBrowser(), newBrowser()];
    const callback = await returnAs(browser, ada, site);
    const pageOf = async (address: string, of = browser) => {
      const { status, text } = await of.get(address);
      return [status, titleOf(text)];
    };
    expect(await pageOf(callback, other)).toEqual(used);
    await returnAs(other, bob, site);
    expect(await pageOf(callback, other)).toEqual(used);
    const elsewhere = site === "me" ? "dashboard" : "me";
    expect(await pageOf(callback.replace(`/${site}/`, `/${elsewhere}/`))).toEqual(used);
    const begun = new Map(browser.cookies);
    expect((await browser.get(callback)).status).toBe(303);
    for (const [name, value] of begun) browser.cookies.set(name, value);
    expect(await pageOf(callback)).toEqual(used);
    expect(await pageOf(`/${site}/callback`)).toEqual(used);
  });

  test("sign-ins that a browser has begun in several tabs all succeed", async () => {
    const browser = newBrowser();
    const callbacks = [await returnAs(browser, ada, site), await returnAs(browser, ada, site)];
    for (const callback of callbacks) expect((await browser.get(callback)).status).toBe(303);
    for (const callback of callbacks)
      expect(titleOf((await browser.get(callback)).text)).toBe("This sign-in cannot be used");
  });

  test("a page explains that the user denied access, or that the platform is down", async () => {
    const browser = newBrowser();
    const denied = await browser.get(await returnAs(browser, { deny: true }, site));
    expect([denied.status, titleOf(denied.text)]).toEqual([403, "You did not sign in"]);
    const [, inGerman = ""] = /href="([^"]+)" lang="de"/.exec(denied.text) ?? [];
    const read = await newBrowser().get(inGerman.replaceAll("&amp;", "&"));
    expect([read.status, titleOf(read.text)]).toEqual([403, "Du hast dich nicht angemeldet"]);
    const callback = await returnAs(browser, ada, site);
    await platform.fail({ mode: "down", platform: "chat" });
    const down = await browser.get(callback);
    await platform.recover();
    expect([down.status, titleOf(down.text)]).toEqual([503, "No answer from the chat platform"]);
    expect(down.headers["retry-after"]).toBe("1");
  });

  test("signing out needs the CSRF token, and makes copies of the cookie useless", async () => {
    const browser = await signIn(ada, newBrowser(), site);
    const thief = newBrowser();
    for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
    const path = `/${site}/sign-out`;
    for (const form of [{}, { csrf: "" }, { csrf: "x".repeat(43) }]) {
      const refused = await browser.post(path, form);
      expect([refused.status, titleOf(refused.text)]).toEqual([403, "This form cannot be used"]);
    }
    if (site === "me") return;
    const { csrf = "" } = formOf(await browser.get(`/${site}`));
    const ofAnother = formOf(await (await signIn(ada)).get(`/${site}`));
    expect((await browser.post(path, ofAnother)).status).toBe(403);
    const ended = await browser.post(path, { csrf });
    expect([ended.status, ended.headers.location]).toEqual([303, `/${site}/signed-out`]);
    expect(setCookie(ended, cookies[site])).toContain("Max-Age=0");
    const gone = await thief.get(`/${site}`);
    expect([gone.status, gone.headers.location]).toEqual([303, `/${site}/sign-in`]);
  });

  test("a form sent without a valid sign-in leads to a page that says so", async () => {
    const browser = newBrowser();
    const sent = async (path: string) => {
      const { status, headers } = await browser.post(`/${site}/${path}`, {});
      expect(status).toBe(303);
      const page = await browser.get(String(headers.location));
      expect(page.text).toContain(`href="/${site}/sign-in"`);
      return [page.status, titleOf(page.text), page.text];
    };
    const mayBeDone = "If you pressed the button before, it is done.";
    expect(await sent(site === "me" ? "export" : "keys")).toEqual([
      200,
      "You are no longer signed in",
      expect.not.stringContaining(mayBeDone),
    ]);
    // Their first try may have ended the sign-in, or none was made, so neither "saved" nor "not saved" would be true.
    for (const path of site === "me" ? ["erase?", "sign-out"] : ["account/delete", "team/remove", "sign-out"])
      expect(await sent(path)).toEqual([200, "You are signed out", expect.stringContaining(mayBeDone)]);
  });

  test("the signed-out page makes the browser clear its cache", async () => {
    const { text } = await newBrowser().get(`/${site}/signed-out`);
    const [, path = ""] = /<link rel="stylesheet" href="(\/\w+\/signed_out\.css)">/.exec(text) ?? [];
    expect(await newBrowser().get(path)).toMatchObject({
      status: 200,
      headers: {
        "content-type": "text/css; charset=utf-8",
        "cache-control": "no-store",
        "clear-site-data": '"cache"',
      },
    });
  });

  test("a site does not accept a sign-in to the other site", async () => {
    const other = site === "me" ? "dashboard" : "me";
    const browser = await signIn(ada, newBrowser(), other);
    browser.cookies.set(cookies[site], browser.cookies.get(cookies[other]) ?? "");
    expect((await browser.get(`/${site}`)).headers.location).toBe(`/${site}/sign-in`);
  });

  test("a site answers an unknown path with a page, and a wrong method with an Allow header", async () => {
    const unknown = await newBrowser().get(`/${site}/nowhere`);
    expect([unknown.status, titleOf(unknown.text)]).toEqual([404, "There is no such page"]);
    const misplaced = await newBrowser().post(`/${site}/sign-in`, {});
    expect([misplaced.status, misplaced.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });
});

const arrival = async (asked: string, site: Site = "dashboard", planted?: string) => {
  const browser = newBrowser();
  const sent = await browser.get(asked);
  expect([sent.status, sent.headers.location]).toEqual([303, `/${site}/sign-in`]);
  if (planted !== undefined) browser.cookies.set(`accountlink_${site}_page`, encodeURIComponent(planted));
  return (await browser.get(await returnAs(browser, ada, site))).headers.location;
};

test("a sign-in leads to the page that was asked for, with its query", async () => {
  expect(await arrival("/dashboard/links?q=user_1&sort=name")).toBe("/dashboard/links?q=user_1&sort=name");
  const audit = "/dashboard/audit?action=link.set";
  expect(await arrival(audit)).toBe(audit);
  expect(await arrival("/me/erase", "me")).toBe("/me/erase");
  expect(await arrival("/dashboard")).toBe("/dashboard");
  expect(await arrival("/dashboard/audit.csv")).toBe("/dashboard");
});

test("a sign-in leads to no address outside of the site", async () => {
  for (const planted of [
    "https://evil.example/",
    "//evil.example/dashboard/",
    "/dashboard//evil.example",
    "/dashboard/\\evil.example",
    "/dashboard/%2e%2e/me/erase",
    "/me/erase",
    "/dashboard/links\r\nx: y",
  ]) {
    expect(await arrival("/dashboard/keys", "dashboard", planted)).toBe("/dashboard");
  }
});

test("only the next sign-in leads to the page", async () => {
  const browser = newBrowser();
  await browser.get("/dashboard/keys");
  expect((await browser.get(await returnAs(browser, ada))).headers.location).toBe("/dashboard/keys");
  await signIn(ada, browser);
});

test("each of several tabs leads to the page that it asked for", async () => {
  const browser = newBrowser();
  const asked = ["/dashboard/links?q=user_1", "/dashboard/audit", `/dashboard/links?q=${"%20".repeat(400)}`];
  const callbacks = [];
  for (const page of asked) {
    await browser.get(page);
    callbacks.push(await returnAs(browser, ada));
  }
  const led = [];
  for (const callback of callbacks) led.push((await browser.get(callback)).headers.location);
  expect(led).toEqual(asked);
  for (let i = 0; i < 4; i++) {
    await browser.get(`/dashboard/links?q=${"%20".repeat(480)}`);
    const begun = await browser.get("/dashboard/sign-in");
    expect(setCookie(begun, "accountlink_dashboard_sign_in")[0]?.length).toBeLessThan(4_096);
  }
});
