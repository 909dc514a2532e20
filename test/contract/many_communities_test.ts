/** The pages of an account with more communities than one page looks at. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { wordsOf } from "../support/flow_browser.ts";
import { signInOwner } from "./dashboard.ts";
import { clubOf, useSiteServer } from "./site_server.ts";

const ada = "100001";
/** The bot is in none of them. */
const guildIds = Array.from({ length: 120 }, (_, index) => `7100000000000001${index + 10}`);

const server = useSiteServer({}, clubOf(ada));
server.fixtures.key({ account: "club", guildId: guild, links: { 100003: "3", 100004: "4" } });
for (const guildId of guildIds) server.fixtures.key({ account: "club", guildId, links: { 100005: "5" } });

test("the list of communities has pages, and each community stands on one of them", async () => {
  const { browser } = await signInOwner(server, ada);
  const found: Array<string> = [];
  const pages: Array<number> = [];
  for (let address: string | undefined = "/dashboard/communities"; address !== undefined; ) {
    const { text } = await browser.get(address);
    const cards = [...text.matchAll(/<h2><a href="\/dashboard\/communities\/(pid_[0-9a-z]+)">/g)];
    found.push(...cards.map(([, pid = ""]) => pid));
    pages.push(cards.length);
    address = /rel="next" href="([^"]*)"/.exec(text)?.[1];
  }
  expect(pages).toEqual([50, 50, 21]);
  expect(new Set(found).size).toBe(121);
});

test("the overview looks at the lists with the most links, and says how many it left out", async () => {
  const { browser } = await signInOwner(server, ada);
  const words = wordsOf(await browser.get("/dashboard"));
  expect(words).toContain("21 further lists of links were not checked for problems here");
  expect(words).toContain("93 further problems of your communities");
  expect(words).toContain("115 further lists of links");
});
