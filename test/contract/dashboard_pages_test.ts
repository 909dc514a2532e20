/** Rules for every page of the dashboard: it escapes text by strangers, it is small, and its links lead to pages. */
import { gzipSync } from "node:zlib";
import { paths, sections } from "@accountlink/pages/dashboard";
import { beforeAll, expect, test } from "vitest";
import { daysAgo, newToken } from "../support/fixtures.ts";
import { createKey, pagesFrom, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";

const [ada, bob] = ["100001", "100002"];
const guildId = "700000000000000001";
const hostile = `"'><img src=x onerror=alert(1)></textarea><script>alert(1)</script>`;
/** A hostile name with a direction override, which would reverse the ID after it. */
const reversed = `\u202E${hostile}`;

const seenAt = daysAgo(1);
const scopes = [{ scope: "global" }, { scope: "guild", guildId }] as const;
const owned = scopes.map((scope) => ({ account: hostile, ...scope }));
const server = useSiteServer({}, () => ({
  accounts: [{ name: hostile, chatId: ada, tier: "premium", members: [{ chatId: bob, role: "admin" }] }],
  keys: owned.flatMap((scope) => Array.from({ length: 13 }, () => ({ ...scope, key: newToken() }))),
  links: owned.flatMap((scope) => [ada, bob].map((chatId) => ({ ...scope, chatId, gameId: "1" }))),
  sightings: owned.flatMap((scope) =>
    [ada, bob].map((chatId) => ({ ...scope, chatId, ip: "203.0.113.7", device: "laptop", seenAt })),
  ),
  plans: [
    {
      ...owned[1],
      guildId,
      rules: [
        { roleId: "1", when: { is: "linked" } },
        { roleId: "2", when: { is: "group", groupId: "9", minRank: 1, maxRank: 255 } },
      ],
      nickname: `${hostile.slice(0, 80)}{game.username}`,
      state: "on",
    },
  ],
  platform: {
    guilds: [
      {
        id: guildId,
        name: hostile,
        members: [ada, bob].map((chatId) => ({ chatId, manager: true })),
        roles: ["1", "2"].map((id) => ({ id, name: hostile, assignable: id === "1" })),
      },
    ],
    chatUsers: [ada, bob].map((id) => ({ id, username: reversed, displayName: reversed })),
    gameUsers: [{ id: "1", username: reversed, displayName: reversed }],
    gameGroups: [{ id: "9", name: hostile, ranks: [{ rank: 1, name: hostile }] }],
  },
}));

/** The source of every page that links lead to, by its address. */
const pages = new Map<string, string>();

beforeAll(async () => {
  const owner = await signInOwner(server, ada);
  await createKey(owner, { name: hostile.slice(0, 60), redirectOrigins: ["https://a.example"] });
  const webhook = { url: "https://hook.example/", description: hostile.slice(0, 60), scope: "global" };
  expect((await owner.send("POST /dashboard/api/webhooks", { body: webhook })).status).toBe(201);
  const asked = ["/dashboard", `/dashboard/alts?kind=chat&id=${ada}`, "/dashboard/links?q=nobody"];
  for (const [address, text] of await pagesFrom(owner.browser, asked)) pages.set(address, text);
});

test("every link on a dashboard page leads to a page, and each section is among them", () => {
  for (const { path } of Object.values(sections)) expect([...pages.keys()]).toContain(path);
});

test("the page of keys shows 25 keys, and all of them on demand", () => {
  const keysOn = (address: string) => pages.get(address)?.match(/<th scope="row">/g)?.length;
  expect(pages.get(paths.keys)).toContain("All 27 keys");
  expect([keysOn(paths.keys), keysOn(`${paths.keys}?all=1`)]).toEqual([25, 27]);
});

test("every dashboard page escapes names that strangers chose, and drops direction overrides", () => {
  const shows = [...pages.values()].filter((text) => text.includes("alert(1)"));
  expect(shows).toHaveLength(pages.size);
  for (const text of shows) {
    expect(text).not.toContain("<img");
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text).not.toContain("\u202E");
  }
});

test("no dashboard page has an inline script or style, a refresh, or a form or file of another address", () => {
  for (const text of pages.values()) {
    // Without a script, a page that shows progress renews itself.
    const scripted = text.replaceAll(/<noscript>.*?<\/noscript>/gs, "");
    const tags = scripted.replaceAll(/"[^"]*"/g, '""').match(/<[^>]*>/g) ?? [];
    expect(tags.filter((tag) => /^<style| (?:style|on\w+|http-equiv)=/.test(tag))).toEqual([]);
    expect(text).not.toMatch(/ (?:src|action)="(?!\/(?!\/))/);
  }
});

test("every dashboard page has one heading, and a csrf field in each form that sends data", () => {
  for (const text of pages.values()) {
    expect(text.match(/<h1/g)).toHaveLength(1);
    const forms = text.match(/<form method="post"[^>]*>\s*<input type="hidden" name="csrf" value="[^"]+">/g);
    expect(forms).toHaveLength(text.match(/<form method="post"/g)?.length ?? 0);
  }
});

test("the style sheet, the script and the largest dashboard page together are smaller than 35 kB", async () => {
  const browser = server.newBrowser();
  const [style, script] = [await browser.get(paths.style), await browser.get(paths.script)];
  expect(style.text.length).toBeLessThan(13_000);
  const sizeOf = (text: string) => gzipSync(text).length;
  const largest = Math.max(...[...pages.values()].map(sizeOf));
  expect(sizeOf(style.text) + sizeOf(script.text) + largest).toBeLessThan(35_000);
});
