/** Members who have not linked get one private message, where their community wants it. */
import { beforeAll, expect, test } from "vitest";
import { guild, inGuilds } from "../support/fixtures.ts";
import { formOf, wordsOf } from "../support/flow_browser.ts";
import { listOf, textOf } from "../support/http.ts";
import { dataOf, expectInvalid } from "./contract_server.ts";
import { enterDashboard, type Owner, pidOf, planOf, putPlan, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";

type Line = Parameters<Owner["send"]>[0];

const [ada, linked, young, closed, open] = ["100001", "100002", "100003", "100004", "100005"];
const [late, rival] = ["100006", "100007"];

const joined = "2024-01-01T00:00:00.000Z";

const cold = "700000000000000077";

/** A guild whose members have been there for long without a link. The last to join is first. */
const coldGuild = {
  id: cold,
  bot: true,
  members: [
    { chatId: ada, manager: true, joined },
    ...["1", "2", "3", "4"].map((n) => ({ chatId: `10001${n}`, joined: `2024-0${n}-01T00:00:00.000Z` })),
  ],
};

const crowded = "700000000000000078";

/** A guild of twenty members without a link. */
const crowdedGuild = {
  id: crowded,
  bot: true,
  members: [
    { chatId: ada, manager: true },
    ...Array.from({ length: 20 }, (_, index) => ({ chatId: String(100_020 + index), joined })),
  ],
};

const german = {
  locale: "de",
  members: [
    { chatId: ada, manager: true, joined },
    { chatId: linked, joined },
    { chatId: young, joined: new Date().toISOString() },
    // The last to join is first.
    { chatId: closed, joined: "2024-02-01T00:00:00.000Z" },
    { chatId: open, joined },
    { chatId: rival, manager: true, joined },
    { chatId: late, joined: "2023-01-01T00:00:00.000Z" },
  ],
};

const server = useSiteServer({ ACCOUNTLINK_REMINDERS_PER_MINUTE: "1000" }, (fixture) => ({
  accounts: [
    { name: "club", chatId: ada, tier: "premium" },
    { name: "rival", chatId: rival, tier: "premium" },
  ],
  platform: {
    guilds: [...inGuilds(fixture, ({ id }) => (id === guild ? german : {})).guilds, coldGuild, crowdedGuild],
  },
}));
const { fixtures, platform } = server;
const links = { [ada]: "1", [linked]: "2", [rival]: "3" };
fixtures.key({ account: "club", guildId: guild, links: { ...links, [late]: "4" } });
fixtures.key({ account: "rival", guildId: guild, links });
for (const guildId of [cold, crowded]) fixtures.key({ account: "club", guildId, links: { [ada]: "1" } });

let owner: Owner;
let pid: string;
beforeAll(async () => {
  ({ owner, pid } = await enterDashboard(server, ada));
});

const put = (fields: object) => putPlan(owner, { pid, ...fields });

const reminded = async () => {
  const { members } = dataOf(
    await owner.send(`GET /dashboard/api/unlinked?pid=${pid}&guildId=${guild}` as Line),
  );
  return new Map(listOf(members).map((member) => [textOf(member.chatId), member.reminded as unknown]));
};

const messagesOf = async (chatId: string) => {
  const { text } = await platform.send(`GET /chat/guilds/${guild}?as=${chatId}`);
  return /<section id="private">.*?<\/section>/s.exec(text)?.[0] ?? "";
};

test("a number of days that is none is refused", async () => {
  for (const remindAfterDays of [0, 91, 1.5, "7", true])
    expectInvalid(await put({ remindAfterDays }), "remindAfterDays");
});

test("the page says how many members get a message before it turns reminders on", async () => {
  dataOf(await put({}));
  const path = `/dashboard/communities/${pid}/channels`;
  const form = { ...formOf(await owner.browser.get(path)), act: "reminders" };
  const asked = await owner.browser.post(path, { ...form, remindAfterDays: "400" });
  expect([asked.status, asked.text]).toEqual([400, expect.stringContaining("1 to 90")]);
  const { text } = await owner.browser.post(path, { ...form, remindAfterDays: "30" });
  expect(text).toContain("<strong>2 members</strong> without a link joined more than 30 days ago.");
  expect(text).toContain("To take it back");
  expect(text).toContain("<p>The chat platform may hold back a bot that opens many private channels");
  expect(text).not.toContain("0 minutes");
  const many = `/dashboard/communities/${await pidOf(owner, crowded)}/channels`;
  const asking = { ...formOf(await owner.browser.get(many)), act: "reminders", remindAfterDays: "30" };
  const words = wordsOf(await owner.browser.post(many, asking));
  expect(words).toContain("20 members without a link joined more than 30 days ago.");
  expect(words).toMatch(/take at least 1 minute, .* at most one in five seconds/);
  expect(await planOf(owner, pid)).toMatchObject({ remindAfterDays: null });
});

test("each member gets one message, once, in the guild's language, and one in five seconds", async () => {
  await platform.fail({
    platform: "chat",
    mode: "refused",
    // A refusal of another kind concerns its member alone as well.
    code: "message_refused",
    times: 1,
    route: "POST /chat/api/users/:chatId/messages",
  });
  const path = `/dashboard/communities/${pid}/channels`;
  const form = { ...formOf(await owner.browser.get(path)), act: "reminders", confirm: "yes" };
  const saved = await owner.browser.post(path, { ...form, remindAfterDays: "30" });
  expect(saved.headers.location).toContain("done=remindersOn");
  await expect.poll(() => messagesOf(open), { timeout: 20_000 }).toContain("Verifizieren");
  expect(await messagesOf(open)).toMatch(/Verknüpfe dein.*Only User \d+ sees this/s);
  for (const chatId of [ada, linked, young, closed]) expect(await messagesOf(chatId)).toBe("");
  const at = await reminded();
  expect([...at.keys()].toSorted()).toEqual([young, closed, open].toSorted());
  expect(at.get(young)).toBeNull();
  const [first, second] = [closed, open].map((chatId) => Date.parse(textOf(at.get(chatId))));
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(5_000);
  expect((await owner.browser.get(`/dashboard/links/unlinked?pid=${pid}`)).text).toContain("Reminded");

  // Another number of days begins a new walk, which finds nobody who was not reminded.
  dataOf(await put({ remindAfterDays: 20 }));
  dataOf(await put({ remindAfterDays: null }));
  expect((await messagesOf(open)).match(/<li/g)).toHaveLength(1);
});

test("another list of the guild reminds nobody whom this one has reminded", async () => {
  dataOf(await put({ state: "paused" }));
  const other = await signInOwner(server, rival);
  const body = { pid: await pidOf(other), guildId: guild, rules: [], nickname: null, state: "on" };
  dataOf(await other.send("PUT /dashboard/api/roles", { body: { ...body, remindAfterDays: 30 } }));
  // The member who joined first is the last to be reminded.
  await expect.poll(() => messagesOf(late), { timeout: 20_000 }).toContain("Verifizieren");
  expect((await messagesOf(open)).match(/<li/g)).toHaveLength(1);
  expect(await messagesOf(closed)).toBe("");
});

test("three refusals in a row rest the reminders of a community, and are a problem of its plan", async () => {
  const route = "POST /chat/api/users/:chatId/messages";
  await platform.fail({ platform: "chat", mode: "refused", code: "message_refused", times: 3, route });
  const place = { pid: await pidOf(owner, cold), guildId: cold };
  const settings = { rules: [], nickname: null, state: "on", remindAfterDays: 30 };
  dataOf(await owner.send("PUT /dashboard/api/roles", { body: { ...place, ...settings } }));
  const problems = async () => (await planOf(owner, place.pid, cold)).status?.problems;
  const refused = { chatId: null, roleId: null, reason: "reminders_refused" };
  await expect.poll(problems, { timeout: 40_000 }).toMatchObject([refused]);
  const { members } = dataOf(
    await owner.send(`GET /dashboard/api/unlinked?pid=${place.pid}&guildId=${cold}` as Line),
  );
  // The fourth is asked after the rest, and none of the three again.
  const left = listOf(members).filter((member) => member.reminded === null);
  expect(left.map((member) => textOf(member.chatId))).toEqual(["100011"]);
  const page = `/dashboard/communities/${place.pid}/roles?guildId=${cold}`;
  expect((await owner.browser.get(page)).text).toContain("refuses the private messages of the bot");
}, 60_000);
