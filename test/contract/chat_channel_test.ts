/** The bot in a guild of the dev platform: its channel, members who join, and the page of the community. */
import { expect, test } from "vitest";
import { guild, stranger } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { createKey, enterDashboard, pidOf, putPlan, signInOwner } from "./dashboard.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const [ada, cyd, newcomer, joining] = ["100001", "100003", "100006", "100077"];

const server = useSiteServer({ ACCOUNTLINK_CHAT_GATEWAY: "on" }, clubOf(ada, { locale: "de" }));
const { fixtures, platform } = server;
const rules = [{ roleId: verified.id, when: { is: "linked" as const } }];
fixtures.key({ account: "club", guildId: guild, links: { [joining]: "1" } });
fixtures.plan({ account: "club", guildId: guild, rules });

const page = `/chat/guilds/${guild}` as const;

/** Sends the form of the channel's page, and returns the page that follows. */
const act = async (chatId: string, fields: Readonly<Record<string, string>>) => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ as: chatId, ...fields }).toString();
  const sent = await platform.send(`POST ${page}`, { body, headers });
  return sent.status === 303 ? await platform.send(`GET ${page}?as=${chatId}`) : sent;
};

/** Reads the channel until it shows the answer. The service defers answers that take longer than 2 s. */
const shows = async (chatId: string, told: RegExp) => {
  const shown = async () => (await platform.send(`GET ${page}?as=${chatId}`)).text;
  await expect.poll(shown, { timeout: 20_000, interval: 100 }).toMatch(told);
  return told.exec(await shown())?.[1] ?? "";
};

test("everybody sees the panel, whose buttons answer alone; only who may gets the commands for managers", async () => {
  await act(ada, { command: "/panel Prove who_you_are" });
  const message = await shows(cyd, /name="message" value="([^"]+)"/);
  await act(cyd, { message, action: "roles" });
  await shows(cyd, /already has the right roles/);
  expect((await platform.send(`GET ${page}?as=${ada}`)).text).not.toContain("already has the right roles");
  const offered = async (chatId: string) => {
    const { text } = await platform.send(`GET ${page}?as=${chatId}`);
    for (const shown of ['<span id="nickname">Nick</span>', "<br>Prove who_you_are", "Everybody sees this"])
      expect(text).toContain(shown);
    return [...text.matchAll(/<option value="(\/\w+)/g)].map(([, name]) => name);
  };
  expect(await offered(cyd)).toEqual(["/verify", "/unlink", "/help"]);
  expect(await offered(ada)).toContain("/panel");
  for (const [by, command, told] of [
    [cyd, "/whois @user_2", "There is no command"],
    [ada, "/dance", "There is no command"],
    [ada, "/whois nobody", "or no member with that name"],
  ] as const) {
    expect((await act(by, { command })).text).toContain(told);
  }
  await act(ada, { command: "/whois @user_2" });
  await shows(ada, /no linked account/);
  expect((await platform.send("GET /chat/guilds/12345")).status).toBe(400);
});

test("a user of the fixture joins and leaves in the channel, and only members write", async () => {
  const joined = await act(stranger, { membership: "join" });
  expect(joined.text).toContain('<span id="roles">none</span>');
  const again = await act(stranger, { membership: "join" });
  expect(again.text).toContain('name="membership" value="leave"');
  const left = await act(stranger, { membership: "leave" });
  expect(left).toMatchObject({ status: 200, text: expect.stringContaining("stranger is not a member") });
  expect((await act(stranger, { command: "/verify" })).text).toContain("Only members write here");
  expect((await act(stranger, { membership: "stay" })).status).toBe(400);
  expect((await act("999", { membership: "join" })).status).toBe(400);
});

test("a slow answer is deferred, and edited into the channel later", async () => {
  await platform.fail({ platform: "chat", mode: "slow", delayMs: 2_600, under: "/chat/api/guilds" });
  const waiting = await act(ada, { command: "/update user_4" });
  expect(waiting.text).toContain("The service is thinking");
  await expect
    .poll(async () => (await platform.send(`GET ${page}?as=${ada}`)).text, { timeout: 10_000, interval: 250 })
    .toContain("try again in a minute");
  await platform.recover();
  // Requests to a platform that was slow fail at once for a while, and the page keeps every answer.
  let refused = 0;
  const isRefused = async () => {
    const before = refused;
    const { text } = await act(ada, { command: "/update user_4" });
    refused = text.split("try again in a minute").length;
    return refused > before;
  };
  await expect.poll(isRefused, { timeout: 20_000, interval: 500 }).toBe(false);
});

test("a linked user who joins has the role within 5 s, also after the platform was down", async () => {
  const member = `/control/guilds/${guild}/members/${joining}` as const;
  const joins = async () => {
    await platform.send(`DELETE ${member}`);
    const body = { manager: false, nickname: null, joined: null, roles: [] };
    await platform.send(`PUT ${member}`, { body });
  };
  const shown = async () => (await platform.send(`GET ${page}?as=${joining}`)).text;
  await expect
    .poll(async () => JSON.stringify((await platform.send("GET /requests")).body), {
      timeout: 10_000,
      interval: 250,
    })
    .toContain("/chat/api/joins");
  await joins();
  await expect.poll(shown, { timeout: 5_000, interval: 250 }).toMatch(/<span id="roles">[^<]*Verified/);

  await platform.fail({ platform: "chat", mode: "down", status: 503 });
  await joins();
  await expect.poll(server.output, { timeout: 10_000, interval: 250 }).toContain("Cannot receive joins");
  await platform.recover();
  await expect.poll(shown, { timeout: 20_000, interval: 250 }).toMatch(/<span id="roles">[^<]*Verified/);
});

test("the page says whether the bot answers, and shows the panel in the language of the guild", async () => {
  const { owner, pid } = await enterDashboard(server, ada);
  const path = `/dashboard/communities/${pid}/channels`;
  const text = async () => (await owner.browser.get(path)).text;

  expect((await putPlan(owner, { pid, rules, state: "paused" })).status).toBe(200);
  const on = await text();
  expect(on).toContain("The bot answers here.");
  expect(on).toContain('value="reminders"');
  expect(on).toMatch(/<div lang="de" dir="ltr">.*Konto.*>Verifizieren</s);
  expect(on).toContain(`/verify?pid=${pid}&amp;guildId=${guild}`);
  await owner.send("DELETE /dashboard/api/roles", { body: { pid, guildId: guild } });
  const off = await text();
  expect(off).toContain("The bot tells members that linking is not set up here");
  expect(off).not.toMatch(/The bot answers here|Members type|Try it as a member|value="reminders"/);
});

test("a community whose only key is disabled is not offered a verify link", async () => {
  const owner = await signInOwner(server, newcomer);
  const { key } = await createKey(owner);
  const pid = await pidOf(owner);
  const text = async () => (await owner.browser.get(`/dashboard/communities/${pid}`)).text;
  expect(await text()).toContain('id="verify-link"');
  await owner.send(`PATCH /dashboard/api/keys/${textOf(key.id)}`, { body: { status: "disabled" } });
  expect(await text()).not.toMatch(/id="(verify|step)-link"/);
});
