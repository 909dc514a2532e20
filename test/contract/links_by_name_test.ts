/** The page of links, sorted by the names of the users over all pages. */
import { expect, test } from "vitest";
import { type Fixtures, guild } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { enterDashboard, scopesOf, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";

const [ada, mod] = ["100001", "100002"];
const count = 250;
const chatIdOf = (index: number) => String(200_001 + index);
/** Names whose order is not the order of the IDs, nor of the verifications. */
const nameOf = (index: number) => `Name ${String((index * 97) % count).padStart(3, "0")}`;

const manyLinks = (fixture: Fixtures["fixture"]) => {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const { platform, links = [] } = fixture;
  const [first, ...others] = platform?.guilds ?? [];
  // Two linked users have left the guild.
  const members = indexes.slice(2).map((index) => ({ chatId: chatIdOf(index) }));
  return {
    accounts: [{ name: "club", chatId: ada, members: [{ chatId: mod, role: "moderator" }] }],
    links: [
      ...links,
      ...indexes.flatMap((index) => {
        const link = { account: "club", chatId: chatIdOf(index), gameId: "1" };
        const lastVerifiedAt = new Date(Date.UTC(2026, 0, 1) + ((index * 31) % count) * 60_000).toISOString();
        return [
          { ...link, scope: "global" as const, lastVerifiedAt },
          { ...link, scope: "guild" as const, guildId: guild, lastVerifiedAt },
        ];
      }),
    ],
    platform: {
      guilds: [{ ...first, members: [{ chatId: ada, manager: true }, ...members] }, ...others],
      chatUsers: [
        ...(platform?.chatUsers ?? []),
        ...indexes.map((index) => ({
          id: chatIdOf(index),
          username: `u${index}`,
          displayName: nameOf(index),
        })),
      ],
    },
  };
};

const server = useSiteServer({}, manyLinks, { usual: "postgres" });
server.fixtures.key({ account: "club" });
server.fixtures.key({ account: "club", guildId: guild });

const open = async (user: string, list: number, query: Readonly<Record<string, string>> = {}) => {
  const owner = await signInOwner(server, user);
  const pid = textOf((await scopesOf(owner))[list]?.pid);
  const search = new URLSearchParams({ pid, sort: "name", ...query });
  const { text } = await owner.browser.get(`/dashboard/links?${search}`);
  return { text, shown: [...text.matchAll(/name="chatId" value="(\d+)"/g)].map(([, chatId]) => chatId) };
};

const sorted = Array.from({ length: count - 2 }, (_, index) => index + 2)
  .toSorted((one, other) => nameOf(one).localeCompare(nameOf(other), "en"))
  .map(chatIdOf);

test("250 links are sorted by name over all pages, and who left the community is last", async () => {
  const first = await open(mod, 1);
  expect(first.shown).toEqual(sorted.slice(0, 25));
  expect(first.text).toContain("Page 1 of 10");
  expect(first.text).toMatch(/All pages were sorted by name at/);
  const second = await open(mod, 1, { page: "2" });
  expect(second.shown).toEqual(sorted.slice(25, 50));
  const last = await open(mod, 1, { page: "99" });
  expect(last.shown).toEqual([...sorted.slice(225), chatIdOf(0), chatIdOf(1)]);
  expect(last.text).toContain("2 users who left the community are last, by ID.");
  expect(last.text).toMatch(/rel="prev"[^>]*page=9"/);
  expect(last.text).not.toContain('rel="next"');
});

test("what a search finds is sorted by name over all pages, too", async () => {
  const { shown, text } = await open(ada, 1, { q: "name 1", page: "3" });
  const found = sorted.filter((chatId) => nameOf(Number(chatId) - 200_001).startsWith("Name 1"));
  expect(shown).toEqual(found.slice(50, 75));
  expect(text).toContain("Page 3 of 4");
});

test("a search finds who was linked after the links were sorted", async () => {
  const { owner, pid } = await enterDashboard(server, ada, guild);
  await open(ada, 1);
  const body = { pid, chatId: ada, gameId: "2", reason: "A test" };
  expect((await owner.send("PUT /dashboard/api/links", { body })).status).toBe(200);
  expect((await open(ada, 1, { q: ada })).shown).toEqual([ada]);
});
