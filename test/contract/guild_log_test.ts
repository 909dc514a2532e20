/** Channels of a guild: the log of a community, and the panel that is posted from the dashboard. */
import { beforeAll, expect, test } from "vitest";
import { botlessGuild, guild } from "../support/fixtures.ts";
import { type Answer, textOf } from "../support/http.ts";
import { expectData, expectInvalid, expectMissing, expectRefusal } from "./contract_server.ts";
import { type Owner, scopesOf, signInOwner } from "./dashboard.ts";
import { clubOf, useSiteServer } from "./site_server.ts";

const [ada, , cyd] = ["100001", "100002", "100003"];
const [log, hall, staff] = ["70", "71", "72"];

const server = useSiteServer({}, (fixture) => {
  const { platform, ...club } = clubOf(ada)(fixture);
  const channels = [
    { id: log, name: "mod-log" },
    { id: hall, name: "hall" },
    { id: staff, name: "staff", mayPost: false },
  ];
  return {
    ...club,
    accounts: [{ name: "club", chatId: ada, tier: "premium", members: [{ chatId: cyd, role: "moderator" }] }],
    platform: { ...platform, guilds: platform.guilds.map((each) => ({ ...each, channels })) },
  };
});
const { fixtures, platform } = server;
fixtures.key({ account: "club", guildId: guild });

let owner: Owner;
let pid: string;
beforeAll(async () => {
  owner = await signInOwner(server, ada);
  pid = textOf((await scopesOf(owner))[0]?.pid);
});

const putPlan = (fields: object = {}) =>
  owner.send("PUT /dashboard/api/roles", {
    body: { pid, guildId: guild, rules: [], nickname: null, state: "on", ...fields },
  });

const postPanel = (fields: object = {}, by = owner) =>
  by.send("POST /dashboard/api/panel", {
    body: { pid, guildId: guild, channelId: hall, text: "Hello", ...fields },
  });

const dataOf = ({ status, body }: Answer) => {
  expect(status).toBe(200);
  return body.data ?? {};
};

/** The text of what the bot posted in a channel, as a member sees it. */
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
  expectRefusal(foreign, 403, "FORBIDDEN", { reason: "wrong_guild" });
  const moderator = await signInOwner(server, cyd);
  const refused = await moderator.send(`GET /dashboard/api/channels?pid=${pid}&guildId=${guild}`);
  expectRefusal(refused, 403, "FORBIDDEN", { reason: "role" });
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
});

test("a panel is refused in channels that are closed or elsewhere, with a long text, and to moderators", async () => {
  for (const channelId of [staff, "99", guild]) expectInvalid(await postPanel({ channelId }), "channelId");
  expectInvalid(await postPanel({ text: "x".repeat(301) }), "text");
  const foreign = await postPanel({ guildId: botlessGuild });
  expectRefusal(foreign, 403, "FORBIDDEN", { reason: "wrong_guild" });
  expectMissing(await postPanel({ channelId: undefined }), "channelId");
  const moderator = await signInOwner(server, cyd);
  expectRefusal(await postPanel({}, moderator), 403, "FORBIDDEN", { reason: "role" });
});

test("the log channel of a plan has to be one in which the bot may post, and stays when it is left out", async () => {
  const stored = async () => {
    const { body } = await owner.send(`GET /dashboard/api/roles?pid=${pid}&guildId=${guild}`);
    return (body.data?.plan as Record<string, unknown> | undefined)?.["logChannelId"];
  };
  for (const logChannelId of [staff, "99", "ada", 70]) {
    expectInvalid(await putPlan({ logChannelId }), "logChannelId");
  }
  expect(await stored()).toBe(null);
  expect((await putPlan({ logChannelId: log })).body.data?.plan).toMatchObject({ logChannelId: log });
  expect((await putPlan({ state: "paused" })).status).toBe(200);
  expect(await stored()).toBe(log);
  expect((await putPlan({ logChannelId: null })).status).toBe(200);
  expect(await stored()).toBe(null);
});
