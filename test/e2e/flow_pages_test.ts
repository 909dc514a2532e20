/** The public verification flow in a real browser. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { devPlatformOn, freePort } from "../support/dev_platform.ts";
import { textOf } from "../support/http.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { chatUsers, gameUsers, guild, makeWorld, stranger } from "../support/world.ts";
import { axeFindings } from "./axe.ts";
import { openPage, startBrowser, type WatchedPage } from "./browser.ts";
import { startFlowSite } from "./flow_site.ts";

const site = await startFlowSite();
const platformPort = await freePort();
const platform = devPlatformOn(platformPort);
const world = makeWorld();
const key = world.key({
  account: "Chess Club",
  redirectOrigins: [site.url],
  links: { 100003: "2", 100004: "2", 100005: "2" },
});
const fixture = {
  ...world.fixture,
  platform: {
    ...world.fixture.platform,
    chatUsers: [
      ...chatUsers.slice(0, 5).map((user) => ({ ...user, avatar: site.picture })),
      { id: stranger, username: "stranger" },
    ],
    gameUsers: gameUsers.slice(0, 3).map((user) => ({
      ...user,
      avatar: { headshot: user.id === "1" ? site.picture : null, fullBody: null },
    })),
  },
};

let server: RunningServer | undefined;
let browser: Browser | undefined;

beforeAll(async () => {
  const env = {
    ACCOUNTLINK_DEV_PLATFORM_PORT: String(platformPort),
    ACCOUNTLINK_SESSION_CREATE_BURST: "0",
  };
  [server, browser] = await Promise.all([startServer({ fixture, env }), startBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  platform.close();
  site.close();
});

const send: RunningServer["send"] = (line, options) => (server as RunningServer).send(line, options);

/** Creates a session, and gives its sid and its pid. */
const newSession = async (asked: object = {}) => {
  const { body } = await send("POST /v2/sessions", { key, body: { clientId: "client", ...asked } });
  return { sid: textOf(body.data?.sid), pid: textOf(body.data?.pid) };
};

const phone = { viewport: { width: 390, height: 844 } };
const desktop = { viewport: { width: 1280, height: 800 } };
const looks = [
  { look: "phone-light", options: { ...phone, colorScheme: "light" } },
  { look: "phone-dark", options: { ...phone, colorScheme: "dark" } },
  { look: "desktop-light", options: { ...desktop, colorScheme: "light" } },
  { look: "desktop-dark", options: { ...desktop, colorScheme: "dark" } },
] as const;

/** Opens a path of the service. */
const visit = (path: string, options: BrowserContextOptions): Promise<WatchedPage> =>
  openPage(browser as Browser, `${server?.url}${path}`, options);

/** Clicks what the name is on. */
const press = async (page: Page, name: string | RegExp): Promise<void> => {
  await page.getByRole("link", { name }).or(page.getByRole("button", { name })).first().click();
};

const signIn = async (page: Page, proof: "chat" | "game", user: RegExp): Promise<void> => {
  await press(page, `Sign in to the ${proof} platform`);
  await press(page, user);
};

/** Proves both accounts. */
const walk = async (page: Page, chat = /User 1\b/, game = /Player 1\b/): Promise<void> => {
  await signIn(page, "chat", chat);
  await signIn(page, "game", game);
};

/** Expects a page that everybody can use, however they look at it. */
const expectUsable = async ({ page, complaints, keepPicture }: WatchedPage, title: string, name: string) => {
  await expect.poll(() => page.title()).toBe(title);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(title);
  await keepPicture(name);
  expect(await axeFindings(page)).toEqual([]);
  const size = page.viewportSize() ?? phone.viewport;
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  await page.setViewportSize(size);
  // That a page was refused is no complaint about the page.
  expect(
    complaints.filter((text) => !text.includes("Failed to load resource: the server responded")),
  ).toEqual([]);
};

describe.each(looks)("the flow, $look", ({ look, options }) => {
  it("takes a user through, with a choice between two game accounts", async () => {
    await send("PATCH /v2/game", { key, body: { chatId: "100002", gameId: "3" } });
    const { sid } = await newSession();
    const watched = await visit(`/verify?sid=${sid}`, options);
    const { page } = watched;
    await expectUsable(watched, "Link your accounts", `flow-begin-${look}`);
    await signIn(page, "chat", /User 2\b/);
    await expectUsable(watched, "Link your accounts", `flow-half-${look}`);
    await signIn(page, "game", /Player 1\b/);
    await expectUsable(watched, "Is this right?", `flow-replace-${look}`);
    await press(page, "Link Player 1 instead");
    await expectUsable(watched, "Your accounts are linked", `flow-done-${look}`);
    await watched.close();
  });

  it("asks before it links, and takes no for an answer", async () => {
    const { sid } = await newSession({ guildId: guild, redirect: `${site.url}/done` });
    const watched = await visit(`/verify?sid=${sid}`, options);
    await walk(watched.page);
    await expectUsable(watched, "Is this right?", `flow-confirm-${look}`);
    await press(watched.page, "Do not link anything");
    await expectUsable(watched, "Nothing was linked", `flow-cancelled-${look}`);
    await watched.close();
  });
});

it("sends the user on to the client, where the policy of the page lets them", async () => {
  const { sid } = await newSession({ redirect: `${site.url}/done` });
  const { page, complaints, close } = await visit(`/verify?sid=${sid}`, phone);
  await walk(page);
  await press(page, "Link these accounts");
  await page.waitForURL(`${site.url}/done?sid=${sid}&state=completed`);
  expect(complaints).toEqual([]);
  await close();
});

it("works without JavaScript", async () => {
  const { sid } = await newSession();
  const { page, close } = await visit(`/verify?sid=${sid}`, { ...phone, javaScriptEnabled: false });
  await walk(page);
  await press(page, "Link these accounts");
  await expect.poll(() => page.title()).toBe("Your accounts are linked");
  await close();
});

it("works with the keyboard alone, and shows where it is", async () => {
  const { sid } = await newSession();
  const { page, close, keepPicture } = await visit(`/verify?sid=${sid}`, desktop);
  /** Goes on with Tab until the name is under the focus, and presses Enter. */
  const enter = async (name: RegExp, picture?: string) => {
    const focused = () => page.evaluate<string>("document.querySelector(':focus')?.textContent ?? ''");
    for (let tabs = 0; !name.test(await focused()); tabs++) {
      if (tabs === 30) throw new Error(`Cannot reach ${name} with the keyboard`);
      await page.keyboard.press("Tab");
    }
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).not.toBe("none");
    if (picture !== undefined) await keepPicture(picture);
    const address = page.url();
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.href !== address);
    await page.waitForLoadState();
  };
  await enter(/^Sign in to the chat platform/, "flow-focus");
  await enter(/User 1/);
  await enter(/^Sign in to the game platform/);
  await enter(/Player 1/);
  await enter(/^Link these accounts/);
  expect(await page.title()).toBe("Your accounts are linked");
  await close();
});

/** How a user gets to each page that does not go on. */
const refusals: Readonly<Record<string, (at: WatchedPage["page"], base: string) => Promise<unknown>>> = {
  "This link is not complete": (page, base) => page.goto(`${base}/verify`),
  "This link leads nowhere": (page, base) => page.goto(`${base}/verify?sid=vs_`),
  "This link is not safe": async (page, base) => {
    const { pid } = await newSession();
    await page.goto(`${base}/verify?pid=${pid}&redirect=https%3A%2F%2Fevil.example`);
  },
  "The community cannot be asked": async (page, base) => {
    const { pid } = await newSession();
    await page.goto(`${base}/verify?pid=${pid}&guildId=1`);
  },
  "The time is over": async (page, base) => {
    const value = `${"0".repeat(43)}.1`;
    await page.context().addCookies([{ name: "accountlink_flow", value, url: base }]);
    await page.goto(`${base}/verify/chat/start`);
  },
  "This link is for somebody else": async (page, base) => {
    const { sid } = await newSession({ chatId: "100002" });
    await page.goto(`${base}/verify?sid=${sid}`);
    await signIn(page, "chat", /User 1\b/);
  },
  "You are not in the community": async (page, base) => {
    const { sid } = await newSession({ guildId: guild });
    await page.goto(`${base}/verify?sid=${sid}`);
    await signIn(page, "chat", /stranger/);
  },
  "The platform does not answer": async (page, base) => {
    const { sid } = await newSession();
    await page.goto(`${base}/verify?sid=${sid}`);
    await press(page, "Sign in to the chat platform");
    await platform.fail({ mode: "down", platform: "chat", under: "/chat/oauth/token" });
    await press(page, /User 1\b/);
    await expect.poll(() => page.title()).toBe("The platform does not answer");
    await platform.recover();
  },
  "You did not sign in": async (page, base) => {
    const { sid } = await newSession();
    await page.goto(`${base}/verify?sid=${sid}`);
    await signIn(page, "chat", /Cancel/);
  },
  "This sign-in cannot be used": async (page, base) => {
    const { sid } = await newSession();
    await page.goto(`${base}/verify/chat/start?sid=${sid}`);
    await page.goto(`${base}/verify/chat/callback?state=x&code=y`);
  },
  "Something is missing": async (page, base) => {
    const { sid } = await newSession();
    await page.goto(`${base}/verify/game/start?sid=${sid}`);
  },
  "This page is out of date": (page, base) => page.goto(`${base}/verify/chat/start`),
  "This form cannot be used": async (page, base) => {
    const { sid } = await newSession();
    await page.goto(`${base}/verify?sid=${sid}`);
    await walk(page);
    await page.evaluate(`document.querySelector("[name=csrf]").value = "x"`);
    await press(page, "Link these accounts");
  },
  "This form cannot be read": async (page, base) => {
    const { sid } = await newSession();
    await page.goto(`${base}/verify?sid=${sid}`);
    await walk(page);
    await page.evaluate(`document.querySelector("[name=csrf]").value = "x".repeat(9000)`);
    await press(page, "Link these accounts");
  },
  "There is nothing to see here": (page, base) => page.goto(`${base}/verify/confirm`),
  "Your link has changed meanwhile": async (page, base) => {
    const { sid } = await newSession();
    await page.goto(`${base}/verify?sid=${sid}`);
    await walk(page, /User 3\b/);
    await send("PATCH /v2/game", { key, body: { chatId: "100003", gameId: "3" } });
    await press(page, /^Link /);
    await expect.poll(() => page.title()).not.toBe("Is this right?");
    await send("PATCH /v2/game", { key, body: { chatId: "100003", gameId: "2" } });
  },
  "Your link was removed meanwhile": async (page, base) => {
    const { sid } = await newSession();
    await page.goto(`${base}/verify?sid=${sid}`);
    await walk(page, /User 4\b/);
    await send("PATCH /v2/game", { key, body: { chatId: "100004", gameId: "2" } });
    await send("DELETE /v2/game", { key, body: { chatId: "100004" } });
    await press(page, /^Link /);
  },
  "This was cancelled": async (page, base) => {
    const { sid } = await newSession();
    await send(`DELETE /v2/sessions/${sid}`, { key });
    await page.goto(`${base}/verify?sid=${sid}`);
  },
  "This is done already": async (page, base) => {
    const { sid } = await newSession();
    await page.goto(`${base}/verify?sid=${sid}`);
    await walk(page);
    await press(page, "Link these accounts");
    await expect.poll(() => page.title()).toBe("Your accounts are linked");
    await page.goto(`${base}/verify?sid=${sid}`);
  },
};

describe.each([looks[0], looks[3]])("the page of a refusal, $look", ({ look, options }) => {
  it.each(Object.entries(refusals))("%s", async (title, reach) => {
    const watched = await visit("/verify/style.css", options);
    await reach(watched.page, server?.url ?? "");
    await expectUsable(watched, title, `refused-${title.toLowerCase().replaceAll(" ", "-")}-${look}`);
    await watched.close();
  });
});
