/** Each page of the public verification flow that does not go on, in a real browser. */
import { type RefusalName, refusals } from "@accountlink/http/flow/refusals";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BrokenStores, startOnBrokenStores } from "../support/broken_stores.ts";
import { guild, makeWorld } from "../support/world.ts";
import { press, signIn, useFlowPages, walk } from "./flow_pages.ts";
import { expectUsable, phone } from "./looks.ts";

const { platform, url, send, newSession, visit } = await useFlowPages();

let brokenStores: BrokenStores | undefined;

beforeAll(async () => {
  brokenStores = await startOnBrokenStores(makeWorld().fixture);
  brokenStores.setStores("down");
});

afterAll(() => brokenStores?.stop());

const open = (page: Page, path: string) => page.goto(`${url()}${path}`);

/** Opens the link of a new session. */
const begin = async (page: Page, asked?: object): Promise<string> => {
  const { sid } = await newSession(asked);
  await open(page, `/verify?sid=${sid}`);
  return sid;
};

/** Confirms with another csrf field than the page has. */
const forge = async (page: Page, csrf: string) => {
  await begin(page);
  await walk(page);
  await page.evaluate(`document.querySelector("[name=csrf]").value = ${JSON.stringify(csrf)}`);
  await press(page, "Link these accounts");
};

/** How a user gets to each of them. */
const ways: Readonly<Record<RefusalName, (page: Page) => Promise<unknown>>> = {
  no_entry: (page) => open(page, "/verify"),
  unknown: (page) => open(page, "/verify?sid=vs_"),
  bad_redirect: async (page) => {
    const { pid } = await newSession();
    await open(page, `/verify?pid=${pid}&redirect=https%3A%2F%2Fevil.example`);
  },
  no_guild: async (page) => {
    const { pid } = await newSession();
    await open(page, `/verify?pid=${pid}&guildId=1`);
  },
  expired: async (page) => {
    const value = `${"0".repeat(43)}.1`;
    await page.context().addCookies([{ name: "accountlink_flow", value, url: url() }]);
    await open(page, "/verify/chat/start");
  },
  wrong_user: async (page) => {
    await begin(page, { chatId: "100002" });
    await signIn(page, "chat", /User 1\b/);
  },
  not_a_member: async (page) => {
    await begin(page, { guildId: guild });
    await signIn(page, "chat", /stranger/);
  },
  platform_down: async (page) => {
    await begin(page);
    await press(page, "Sign in to the chat platform");
    await platform.fail({ mode: "down", platform: "chat", under: "/chat/oauth/token" });
    await press(page, /User 1\b/);
    await expect.poll(() => page.title()).toBe(refusals.platform_down.title);
    await platform.recover();
  },
  denied: async (page) => {
    await begin(page);
    await signIn(page, "chat", /Cancel/);
  },
  sign_in_invalid: async (page) => {
    const { sid } = await newSession();
    await open(page, `/verify/chat/start?sid=${sid}`);
    await open(page, "/verify/chat/callback?state=x&code=y");
  },
  unfinished: async (page) => {
    const { sid } = await newSession();
    await open(page, `/verify/game/start?sid=${sid}`);
  },
  lost: (page) => open(page, "/verify/chat/start"),
  forged: (page) => forge(page, "x"),
  unreadable: (page) => forge(page, "x".repeat(9_000)),
  misplaced: (page) => open(page, "/verify/confirm"),
  link_changed: async (page) => {
    await begin(page);
    await walk(page, /User 3\b/);
    await send("PATCH /v2/game", { body: { chatId: "100003", gameId: "3" } });
    await press(page, /^Link /);
  },
  failed: async (page) => {
    await begin(page);
    await walk(page, /User 4\b/);
    await send("DELETE /v2/game", { body: { chatId: "100004" } });
    await press(page, /^Link /);
  },
  cancelled: async (page) => {
    const { sid } = await newSession();
    await send(`DELETE /v2/sessions/${sid}`);
    await open(page, `/verify?sid=${sid}`);
  },
  completed: async (page) => {
    const sid = await begin(page);
    await walk(page);
    await press(page, "Link these accounts");
    await expect.poll(() => page.title()).toBe("Your accounts are linked");
    await open(page, `/verify?sid=${sid}`);
  },
  too_many: async (page) => {
    const { pid } = await newSession();
    // An address may do this once a day here.
    for (const title of ["Your accounts are linked", refusals.too_many.title]) {
      await open(page, `/verify?pid=${pid}`);
      await walk(page);
      await press(page, "Link these accounts");
      await expect.poll(() => page.title()).toBe(title);
    }
  },
  store_down: (page) => page.goto(`${brokenStores?.url}/verify?sid=vs_`),
  defect: async (page) => {
    brokenStores?.setStores("broken");
    await page.goto(`${brokenStores?.url}/verify?sid=vs_`);
    brokenStores?.setStores("down");
  },
};

describe("the page of a refusal", () => {
  it.each(Object.keys(ways) as Array<RefusalName>)("%s", async (name) => {
    const watched = await visit("/verify/style.css", phone);
    await ways[name](watched.page);
    await expectUsable(watched, refusals[name].title, `refused-${name}`);
    await watched.close();
  });
});
