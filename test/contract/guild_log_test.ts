/** Channels of a guild: the log of a community, and the panel that is posted from the dashboard. */
import { beforeAll, expect, test } from "vitest";
import { chatKey, command } from "../support/chat.ts";
import { botlessGuild, guild, inGuilds } from "../support/fixtures.ts";
import { formOf, locationOf, withoutIsolation, wordsOf } from "../support/flow_browser.ts";
import { listOf, textOf } from "../support/http.ts";
import { uploadLinks } from "../support/link_upload.ts";
import { dataOf, expectData, expectForbidden, expectInvalid, expectMissing } from "./contract_server.ts";
import { enterDashboard, type Owner, planOf, putPlan, signInOwner } from "./dashboard.ts";
import { clubOf, exportOf, useSiteServer } from "./site_server.ts";

const [ada, ben, cyd, dan, eve] = ["100001", "100002", "100003", "100004", "100005"];
const [log, hall, staff] = ["70", "71", "72"];

const crowd = Array.from({ length: 30 }, (_, i) => ({ chatId: String(600_001 + i) }));

const waiting = { interval: 200 };

const channels = [
  { id: log, name: "mod-log" },
  { id: hall, name: "hall" },
  { id: staff, name: "staff", mayPost: false },
];
const server = useSiteServer({ ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey }, (fixture) => {
  const club = clubOf(ada, { tier: "premium", team: { [cyd]: "moderator" }, channels })(fixture);
  return { ...club, platform: inGuilds(club, ({ members = [] }) => ({ members: [...members, ...crowd] })) };
});
const { fixtures, platform } = server;
const key = fixtures.key({ account: "club", tier: "premium", guildId: guild });

let owner: Owner;
let pid: string;
beforeAll(async () => {
  ({ owner, pid } = await enterDashboard(server, ada));
});

const put = (fields: object = {}) => putPlan(owner, { pid, ...fields });

const postPanel = (fields: object = {}, by = owner) =>
  by.send("POST /dashboard/api/panel", {
    body: { pid, guildId: guild, channelId: hall, text: "Hello", ...fields },
  });

const stateOf = async () => dataOf(await owner.send(`GET /dashboard/api/communities/${pid}`)).community;
const communityWords = async () => wordsOf(await owner.browser.get(`/dashboard/communities/${pid}`));

const postsIn = async (channelId: string) => {
  const { text } = await platform.send(`GET /chat/guilds/${guild}`);
  const section = new RegExp(`<section id="channel-${channelId}">.*?</section>`, "s").exec(text)?.[0] ?? "";
  return section.replaceAll(/<button[^>]*>.*?<\/button>|<[^>]+>/gs, " ").replaceAll(/\s+/g, " ");
};

test("the channels of a guild say where the bot may post", async () => {
  const found = await owner.send(`GET /dashboard/api/channels?pid=${pid}&guildId=${guild}`);
  expectData(found, {
    channels: [
      { id: log, name: "mod-log", mayPost: true },
      { id: hall, name: "hall", mayPost: true },
      { id: staff, name: "staff", mayPost: false },
    ],
  });
  expectMissing(await owner.send("GET /dashboard/api/channels"), "pid", "guildId");
  const foreign = await owner.send(`GET /dashboard/api/channels?pid=${pid}&guildId=${botlessGuild}`);
  expectForbidden(foreign, "wrong_guild");
  const moderator = await signInOwner(server, cyd);
  expectForbidden(await moderator.send(`GET /dashboard/api/channels?pid=${pid}&guildId=${guild}`), "role");
});

test("a panel is posted in a channel, changed there later, and posted anew if it is gone", async () => {
  const posted = dataOf(await postPanel());
  const messageId = textOf(posted["messageId"]);
  expect(await postsIn(hall)).toContain("Hello");
  expect(dataOf(await postPanel({ text: "Welcome **all** @everyone" }))).toEqual({ messageId });
  const shown = await postsIn(hall);
  expect(shown).toContain("Welcome **all** @everyone");
  expect(shown).not.toContain("Hello");

  await platform.fail({
    platform: "chat",
    mode: "refused",
    code: "unknown_message",
    times: 1,
    route: "PATCH /chat/api/channels/:channelId/messages/:messageId",
  });
  const anew = dataOf(await postPanel({ text: null }));
  expect(anew["messageId"]).not.toBe(messageId);
  await platform.recover();
  const audit = withoutIsolation((await owner.browser.get("/dashboard/audit?action=panel.posted")).text);
  const told = [...audit.matchAll(/<li><span>(.*?)<\/span>/g)].map(([, sentence]) => sentence);
  const of = "the panel of Rook &amp; Bishop in #hall";
  expect(told).toEqual([`User 1 posted ${of}`, `User 1 changed ${of}`, `User 1 posted ${of}`]);
});

test("three posts of a panel in one channel at once make one panel", async () => {
  const posts = await Promise.all(
    [1, 2, 3].map((text) => postPanel({ channelId: log, text: `Text ${text}` })),
  );
  expect(new Set(posts.map((posted) => textOf(dataOf(posted)["messageId"]))).size).toBe(1);
});

test("a panel is refused in channels that are closed or elsewhere, with a long text, and to moderators", async () => {
  for (const channelId of [staff, "99", guild]) expectInvalid(await postPanel({ channelId }), "channelId");
  for (const text of ["x".repeat(301), "a\0"]) expectInvalid(await postPanel({ text }), "text");
  expectForbidden(await postPanel({ guildId: botlessGuild }), "wrong_guild");
  expectMissing(await postPanel({ channelId: undefined }), "channelId");
  const moderator = await signInOwner(server, cyd);
  expectForbidden(await postPanel({}, moderator), "role");
});

test("the log channel of a plan has to be one in which the bot may post, and stays when it is left out", async () => {
  const stored = async () => (await planOf(owner, pid)).logChannelId;
  for (const logChannelId of [staff, "99", "ada", 70]) {
    expectInvalid(await put({ logChannelId }), "logChannelId");
  }
  expect(await stored()).toBe(null);
  expect((await put({ logChannelId: log })).body.data?.plan).toMatchObject({ logChannelId: log });
  expect((await put({ state: "paused" })).status).toBe(200);
  expect(await stored()).toBe(log);
  expect((await put({ logChannelId: null })).status).toBe(200);
  expect(await stored()).toBe(null);
});

test("the log tells who linked which account and how, who unlinked, and who was linked by whom", async () => {
  expect((await put({ logChannelId: log })).status).toBe(200);
  const browser = server.newBrowser();
  const asked = await browser.walk(`?pid=${pid}&guildId=${guild}`, cyd, "3");
  expect((await browser.post("/verify/confirm", formOf(asked))).status).toBe(200);
  await owner.send("PUT /dashboard/api/links", { body: { pid, chatId: dan, gameId: "2" } });
  await owner.send("DELETE /dashboard/api/links", { body: { pid, chatId: dan } });
  await expect.poll(() => postsIn(log), waiting).toMatch(/was unlinked from Player 2 .*? by @Nick/);
  expect(await postsIn(log)).toMatch(
    /@Nick linked Player 3 \( player_3 \) ?, signed in at the game platform\..*was linked to Player 2 .*? by @Nick.*was unlinked/,
  );
});

test("the log says that a link was put back as it was, and who took an account from another user", async () => {
  const body = { pid, chatId: dan };
  await owner.send("PUT /dashboard/api/links", { body: { ...body, gameId: "4" } });
  await owner.send("DELETE /dashboard/api/links", { body });
  await owner.send("POST /dashboard/api/links/restore", { body });
  await expect
    .poll(() => postsIn(log), waiting)
    .toMatch(/linked to Player 4 .*? by @Nick ?, as it was before\./);
  const settings = `PATCH /dashboard/api/scopes/${pid}` as const;
  await owner.send(settings, { body: { oneChatUser: true } });
  const browser = server.newBrowser();
  const asked = await browser.walk(`?pid=${pid}&guildId=${guild}`, eve, "4");
  expect((await browser.post("/verify/confirm", formOf(asked))).status).toBe(200);
  await expect.poll(() => postsIn(log), waiting).toMatch(/unlinked from Player 4 \( player_4 \) ?by @/);
  await owner.send(settings, { body: { oneChatUser: false } });
  await owner.send("DELETE /dashboard/api/links", { body: { pid, chatId: eve } });
});

test("the log tells once an hour that a user who is blocked tried to link an account, in the flow or in chat", async () => {
  const block = (chatId: string) => ({ pid, chatId });
  for (const chatId of [dan, eve]) {
    await owner.send("PUT /dashboard/api/blocks", { body: { ...block(chatId), reason: "Raids" } });
  }
  for (let tries = 0; tries < 3; tries++) {
    await server.newBrowser().prove("chat", dan, `?pid=${pid}&guildId=${guild}`);
    await command(server.send, { chatId: dan }, "verify");
  }
  await command(server.send, { chatId: eve }, "verify");
  const told = async () => (await postsIn(log)).split("tried to link an account, but is blocked.").length - 1;
  // What eve tried is told after what dan tried.
  await expect.poll(told, waiting).toBe(2);
  expect(await postsIn(log)).not.toContain("Raids");
  for (const chatId of [dan, eve]) {
    expect((await owner.send("DELETE /dashboard/api/blocks", { body: block(chatId) })).status).toBe(200);
  }
});

/** The number of messages in a channel, and of the links that they tell in lines or count. */
const toldIn = async (channelId: string) => {
  const text = await postsIn(channelId);
  const counted = [...text.matchAll(/And \d+ more: (\d+) linked\./g)].map(([, links]) => Number(links));
  return {
    messages: text.split("The bot @").length,
    links: text.split("was linked to").length + counted.reduce((sum, links) => sum + links, 0),
  };
};

test("a burst is told in few messages, with counts, at most one in two seconds", async () => {
  const before = await toldIn(log);
  const startedAt = Date.now();
  // While the first message is on its way, the others wait.
  await platform.fail({
    platform: "chat",
    mode: "slow",
    delayMs: 3_000,
    under: "/chat/api/channels",
    times: 1,
  });
  const link = async (chatId: string) =>
    (await owner.send("PUT /dashboard/api/links", { body: { pid, chatId, gameId: "2" } })).status;
  await Promise.all(crowd.map(({ chatId }) => expect.poll(() => link(chatId), waiting).toBe(200)));
  const newLinks = async () => (await toldIn(log)).links - before.links;
  await expect.poll(newLinks, waiting).toBe(crowd.length);
  const messages = (await toldIn(log)).messages - before.messages;
  expect(messages).toBeLessThanOrEqual(1 + Math.ceil((Date.now() - startedAt) / 2_000));
  expect(await postsIn(log)).toMatch(/And \d+ more: \d+ linked\./);
});

test("the log and the page of events call an import an import, and its undo an undo", async () => {
  const { browser, csrfToken: csrf } = owner;
  const file = "chatId,gameId\n700001,7\n700002,8\n";
  const preview = locationOf(await uploadLinks(browser, { csrf, pid, onConflict: "newest" }, file));
  expect((await browser.post(`${preview}/start`, { csrf })).status).toBe(303);
  await expect.poll(() => postsIn(log), { ...waiting, timeout: 15_000 }).toContain("2 links were imported.");
  expect((await browser.post(`${preview}/undo`, { csrf })).status).toBe(303);
  await expect
    .poll(() => postsIn(log), { ...waiting, timeout: 15_000 })
    .toContain("2 imported links were undone: removed, or set back to the account from before.");
  const events = wordsOf(await browser.get(`/dashboard/events?pid=${pid}`));
  expect(events).toContain("An import was undone, which changed 2 links");
  expect(events).toContain("2 links came with an import");
});

test("a channel that is closed is a problem of the plan, and another channel ends it", async () => {
  const channel = `/control/guilds/${guild}/channels/${log}` as const;
  await platform.send(`PUT ${channel}`, { body: { name: "mod-log", mayPost: false } });
  await owner.send("PUT /dashboard/api/links", { body: { pid, chatId: dan, gameId: "3", reason: "A test" } });
  const reasons = async () => listOf((await planOf(owner, pid)).status?.problems).map(({ reason }) => reason);
  await expect.poll(reasons, waiting).toEqual(["log_channel_closed"]);
  expect(await stateOf()).toMatchObject({ logChannelId: log, panel: { channelId: log }, problems: 1 });
  expect(await communityWords()).toMatch(
    /Panel#mod-logLog#mod-log.*the bot may not write into the channel of the log/,
  );
  expect((await put({ logChannelId: hall })).status).toBe(200);
  const audit = async () => (await owner.browser.get("/dashboard/audit")).text;
  await expect.poll(audit, waiting).toContain("log channel from #mod-log to #hall");
  expect(await reasons()).toEqual([]);
  await expect.poll(() => postsIn(hall), waiting).toMatch(/was linked to Player 3/);
  await platform.send(`PUT ${channel}`, { body: { name: "mod-log", mayPost: true } });
});

test("a closed channel that is saved again once it is open is told at once", async () => {
  const setLog = async (logChannelId: string) => expect((await put({ logChannelId })).status).toBe(200);
  const mayPost = (may: boolean) =>
    platform.send(`PUT /control/guilds/${guild}/channels/${staff}`, {
      body: { name: "staff", mayPost: may },
    });
  await mayPost(true);
  await setLog(staff);
  await mayPost(false);
  await owner.send("PUT /dashboard/api/links", { body: { pid, chatId: dan, gameId: "6", reason: "A test" } });
  const problems = async () => (await stateOf())?.problems;
  await expect.poll(problems, waiting).toBe(1);
  await mayPost(true);
  await setLog(staff);
  await expect.poll(() => postsIn(staff), waiting).toMatch(/was linked to Player 6/);
  expect(await problems()).toBe(0);
  await setLog(hall);
});

test("an erased user is taken out of messages that were posted, and others stay", async () => {
  await owner.send("PUT /dashboard/api/links", { body: { pid, chatId: eve, gameId: "5", reason: "A test" } });
  await expect.poll(() => postsIn(hall), waiting).toContain("Player 5");
  const me = await server.signIn(eve, server.newBrowser(), "me");
  expect((await exportOf(me)).body["logMessages"]).toContainEqual({
    community: expect.objectContaining({ pid }) as unknown,
    guildId: guild,
    channelId: log,
    messageId: expect.any(String) as unknown,
    at: expect.stringMatching(/Z$/) as unknown,
  });
  const page = await me.get("/me/erase");
  expect((await me.post("/me/erase", { ...formOf(page), confirm: "erase" })).status).toBeLessThan(400);
  await expect.poll(() => postsIn(hall), waiting).toContain("[erased]");
  const shown = await postsIn(hall);
  expect(shown).not.toContain("Player 5");
  expect(shown).toMatch(/was linked to Player 3/);
  const events = wordsOf(await owner.browser.get(`/dashboard/events?pid=${pid}`));
  expect(events).toContain(`User ${eve} was erased`);
});

test("New and alike shows new links, and changes to another account, of a list without a log", async () => {
  expect((await put({ logChannelId: null })).status).toBe(200);
  const other = { pid, chatId: ada, gameId: "7", reason: "A test" };
  expect((await owner.send("PUT /dashboard/api/links", { body: other })).status).toBe(200);
  const browser = server.newBrowser();
  for (const chatId of [ben, ada]) {
    const asked = await browser.walk(`?pid=${pid}&guildId=${guild}`, chatId, "4");
    expect((await browser.post("/verify/confirm", formOf(asked))).status).toBe(200);
  }
  const shown = async () => (await owner.browser.get(`/dashboard/alts/new?pid=${pid}`)).text;
  await expect.poll(shown, waiting).toContain(`href="/dashboard/links/block?pid=${pid}&amp;chatId=${ada}"`);
  const overview = (await owner.browser.get("/dashboard")).text;
  expect(overview).toContain("may be the second account of somebody who is there already.");
  const undecided = Number((await stateOf())?.likelyAlts);
  expect(undecided).toBeGreaterThan(0);
  expect(await communityWords()).toContain(`Likely alts to decide about${undecided}`);

  const me = await server.signIn(ben, server.newBrowser(), "me");
  const { likelyAlts } = (await exportOf(me)).body;
  const reasons = expect.arrayContaining(["game", "device"]);
  expect(likelyAlts).toEqual([
    { community: expect.objectContaining({ pid }), linkedAt: expect.any(String), score: 98, reasons },
  ]);
});

test("New and alike takes the reviews of a moderator, and shows no address", async () => {
  const path = `/dashboard/alts/new?pid=${pid}`;
  const moderator = await signInOwner(server, cyd);
  const shown = await moderator.browser.get(path);
  expect(shown.text).toMatch(/Same browser, .*today/);
  expect(shown.text).not.toMatch(/127\.0\.0\.1|::1/);
  const { csrf = "" } = formOf(shown);
  const pair = { csrf, pid, chatId: ada, otherChatId: ben, from: "new" };
  const review = (fields: Readonly<Record<string, string>>) =>
    moderator.browser.post("/dashboard/alts/reviews", { ...pair, verdict: "different", ...fields });
  expect((await review({ note: "x".repeat(501) })).status).toBe(400);
  expect((await review({ csrf: "wrong" })).status).toBe(403);
  expect((await review({ otherChatId: ada })).status).toBe(400);

  const reviewed = await review({ note: " Brothers " });
  expect([reviewed.status, reviewed.headers.location]).toEqual([303, `${path}&done=reviewed`]);
  const reviews = () => server.send(`GET /v2/alts/reviews?chatId=${ada}&guildId=${guild}`, { key });
  const stored = { otherChatId: ben, verdict: "different", note: "Brothers", keyId: null };
  expect((await reviews()).body.data).toMatchObject({ reviews: [stored] });
  expect((await review({ verdict: "" })).headers.location).toContain("done=forgotten");
  expectData(await reviews(), { reviews: [] });
  const foreign = "/dashboard/alts/new?pid=pid_00000000000000000000";
  expect((await moderator.browser.get(foreign)).status).toBe(404);
});

test("links that are gone wait for no decision", async () => {
  const body = { pid, chatId: ada, reason: "A test" };
  expect((await owner.send("DELETE /dashboard/api/links", { body })).status).toBe(200);
  const { links } = dataOf(await owner.send(`GET /dashboard/api/alts?pid=${pid}`));
  expect((await stateOf())?.likelyAlts).toBe(listOf(links).length);
  expect(listOf(links).map(({ chatId }) => chatId)).not.toContain(ada);
});
