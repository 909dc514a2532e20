/** What the overview says to an owner each morning, with and without API keys. */
import { afterEach, expect, test } from "vitest";
import { chatUsers, daysAgo, guild } from "../support/fixtures.ts";
import { wordsOf } from "../support/flow_browser.ts";
import { enterDashboard, planOf, signInOwner } from "./dashboard.ts";
import { expectPage } from "./flow_server.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const [ada, ben, eve, mod] = ["100001", "100002", "100005", "100006"];
const club = { account: "club", scope: "guild", guildId: guild } as const;
const seen = { ...club, ip: "203.0.113.7", device: "laptop", seenAt: daysAgo(1) };

const server = useSiteServer({}, (fixture) => ({
  ...clubOf(ada, { tier: "premium", team: { [mod]: "admin" } })(fixture),
  links: [
    { ...club, chatId: "100003", gameId: "3", lastVerifiedAt: daysAgo(2) },
    { ...club, chatId: "100004", gameId: "4", lastVerifiedAt: daysAgo(9) },
    { ...club, chatId: eve, gameId: "5", lastVerifiedAt: daysAgo(9) },
    ...(fixture.links ?? []),
  ],
  sightings: [
    { ...seen, chatId: eve },
    { ...seen, chatId: "100007" },
  ],
}));
server.fixtures.account({ name: "makers", chatId: ben });
const rule = { roleId: verified.id, when: { is: "linked" } };
server.fixtures.plan({ account: "club", guildId: guild, rules: [rule] });
server.fixtures.key({ account: "makers", links: { 100003: "3" } });

afterEach(() => server.platform.recover());

const overviewOf = async (chatId: string) => {
  const { browser } = await signInOwner(server, chatId);
  const page = await browser.get("/dashboard");
  expect(page.status).toBe(200);
  const menu = [
    ...page.text.matchAll(/<a href="[^"]*"(?: aria-current="page")?><svg.*?<\/svg>([^<]+)<\/a>/gs),
  ];
  return { words: wordsOf(page), menu: menu.map(([, name]) => name) };
};

test("an owner without a key reads who is linked and who is not, who linked this week and how, and what the rules do", async () => {
  const { browser } = await signInOwner(server, ada);
  const { words } = await overviewOf(ada);
  expect(words).toContain(`3 of ${chatUsers.length} members of Rook & Bishop have linked, 37 not yet.`);
  expect(words).toMatch(
    /Linked or confirmed in seven days -50 % against the week before 1|against the week before/,
  );
  expect(words).toContain("In seven days: Unknown: 1");
  expect(words).toMatch(/The rules in Rook & Bishop are (?:on|being applied)/);
  expect(words).not.toContain("Requests");
  const given = "In seven days: roles given: 3 · roles taken: 0 · nicknames set: 0.";
  await expect.poll(async () => (await overviewOf(ada)).words, { timeout: 15_000 }).toContain(given);
  expect((await browser.get("/dashboard/links/unlinked")).text).toContain("3 of 40");
});

test("members of a community without a key can link while its rules are paused", async () => {
  const { owner, pid } = await enterDashboard(server, ada);
  const { rules, nickname } = await planOf(owner, pid);
  for (const state of ["paused", "on"]) {
    const body = { pid, guildId: guild, rules, nickname, state };
    expect((await owner.send("PUT /dashboard/api/roles", { body })).status).toBe(200);
    expectPage(await server.newBrowser().get(`/verify?pid=${pid}`), 200, "Link your accounts");
  }
});

test("the overview names the latest changes of links", async () => {
  const owner = await signInOwner(server, ada);
  const { text } = await owner.browser.get("/dashboard/communities");
  const pid = /pid_[0-9a-z]+/.exec(text)?.[0];
  const community = await owner.browser.get(`/dashboard/communities/${pid}`);
  expect(community.text).toMatch(/Give it the rights to .*, if it lacks them/);
  await owner.send("PUT /dashboard/api/links", { body: { pid, chatId: "100008", gameId: "8" } });
  const { words } = await overviewOf(ada);
  expect(words).toContain("linked User 8 (100008) to Player 8 (8)");
  expect(words).toContain("In seven days: Linked by hand: 1");
});

test("the overview says so while the chat platform does not list the members", async () => {
  const { browser } = await signInOwner(server, ada);
  await server.platform.fail({ mode: "down", platform: "chat", status: 500 });
  await expect
    .poll(async () => (await browser.get("/dashboard")).text)
    .toMatch(/have linked is unknown\. The chat platform does not answer/);
});

test("a new owner adds the bot with all rights in one visit", async () => {
  const { words } = await overviewOf("100031");
  expect(words).toContain(
    "It asks once for the rights to manage roles and nicknames, see channels and send messages",
  );
});

test("the menu has Try it, Events, Webhooks and Usage only with a key or webhook", async () => {
  const programs = ["Webhooks", "Usage", "Events", "Try it"];
  const withoutKey = await overviewOf(ada);
  expect(withoutKey.menu).toEqual(expect.arrayContaining(["Overview", "Links", "Keys", "Account"]));
  for (const name of programs) expect(withoutKey.menu).not.toContain(name);
  const withKey = await overviewOf(ben);
  expect(withKey.menu).toEqual(expect.arrayContaining(programs));
  expect(withKey.words).toContain("Requests today");
  const { browser } = await signInOwner(server, ada);
  expect((await browser.get("/dashboard/keys")).text).toContain('href="/dashboard/webhooks"');
  expect((await browser.get("/dashboard/usage")).text).toContain('aria-current="page"');
});
