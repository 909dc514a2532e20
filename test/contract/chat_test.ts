/** Commands in chat: what the chat platform sends, and what it gets. */
import { listings } from "@accountlink/pages/chat";
import { afterEach, expect, test } from "vitest";
import {
  chatKey,
  command,
  interactionOf,
  press,
  type Sender,
  sendInteraction,
  signed,
} from "../support/chat.ts";
import { emptyGuild, guild } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import type { Answer } from "../support/http.ts";
import { planOf, putPlan, signInOwner } from "./dashboard.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const member = (number: number): Sender => ({ chatId: String(100_000 + number) });
const [ada, bob, cyd, dan, eve] = [member(1), member(2), member(3), member(4), member(5)];
const [busy, flo, gus, hal] = [member(20), member(6), member(7), member(8)];
const [aboveBot, pass] = ["9", "7"];
const unnamedGuild = "700000000000000077";
/** Members who all play as the game user 4. */
const crowd = Array.from({ length: 71 }, (_, index) => ({ chatId: String(200_000 + index), roles: [] }));

const guildRoles = [
  { id: aboveBot, name: "Chief", assignable: false },
  { id: "1", name: "Member", assignable: true },
  { id: pass, name: "Pass", assignable: true },
];
const server = useSiteServer(
  { ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey, ACCOUNTLINK_CHAT_COMMANDS_PER_MINUTE: "20" },
  (fixture) => {
    const { platform, ...rest } = clubOf(ada.chatId, { roles: guildRoles })(fixture);
    const unnamed = { id: unnamedGuild, bot: true, members: [], roles: [] };
    const guilds = platform.guilds.map((each) =>
      each.id === guild ? { ...each, members: [...(each.members ?? []), ...crowd] } : each,
    );
    return { ...rest, platform: { ...platform, guilds: [...guilds, unnamed] } };
  },
);
const { fixtures, send, platform } = server;
const links = {
  ...Object.fromEntries(crowd.map(({ chatId }) => [chatId, "4"])),
  100002: "2",
  100005: "5",
  100006: "6",
  100007: "7",
  100008: "8",
};
const key = fixtures.key({ account: "club", guildId: guild, links });
fixtures.plan({
  account: "club",
  guildId: guild,
  rules: [
    { roleId: verified.id, when: { is: "linked" } },
    { roleId: aboveBot, when: { is: "group", groupId: "3", minRank: 255 } },
  ],
  state: "on",
});

fixtures.plan({ account: "chat:100099", guildId: unnamedGuild, rules: [], state: "on" });

interface Button {
  readonly label: string;
  readonly url?: string;
  readonly custom_id?: string;
}

interface Message {
  readonly content: string;
  readonly flags?: number;
  readonly allowed_mentions: object;
  readonly components: ReadonlyArray<{ readonly components: ReadonlyArray<Button> }>;
}

const dataOf = (answer: Answer): Message => {
  expect([answer.status, answer.body.type]).toEqual([200, 4]);
  return answer.body.data as unknown as Message;
};

/** Returns the message of an answer that the asking user alone sees. */
const privateMessage = (answer: Answer): Message => {
  const message = dataOf(answer);
  expect(message).toMatchObject({ flags: 64, allowed_mentions: { parse: [] } });
  return message;
};

const told = async (sender: Sender, name: string, options?: Parameters<typeof command>[3]) =>
  privateMessage(await command(send, sender, name, options));

const pressed = async (sender: Sender, button: string) => privateMessage(await press(send, sender, button));

afterEach(() => platform.recover());

const buttonsOf = ({ components }: Message): ReadonlyArray<Button> =>
  components.flatMap((row) => row.components);

const urlsOf = (message: Message): ReadonlyArray<string> => buttonsOf(message).flatMap(({ url = [] }) => url);

const pid = async (): Promise<string> => {
  const { url = "" } = buttonsOf(await told(cyd, "verify"))[0] ?? {};
  return new URL(url).searchParams.get("pid") ?? "";
};

const gameOf = async ({ chatId }: Sender): Promise<unknown> => {
  const { body } = await send(`GET /v2/chat?chatId=${chatId}&guildId=${guild}`, { key });
  return body.data?.gameId;
};

test("a signed ping gets a pong, and a request without a valid, recent signature 401 and an empty body", async () => {
  const body = JSON.stringify({ id: "1", application_id: "2", token: "t", type: 1, version: 1 });
  const now = Math.floor(Date.now() / 1_000);
  const right = signed(body);
  const refused: ReadonlyArray<Readonly<Record<string, string>>> = [
    {},
    { ...right, "x-signature-ed25519": "" },
    { ...right, "x-signature-ed25519": "00".repeat(64) },
    { ...right, "x-signature-ed25519": "not hex" },
    { ...right, "x-signature-timestamp": String(now - 1) },
    signed(body, String(now - 301)),
    signed(body, String(now + 310)),
    signed(body, "soon"),
    signed(`${body} `),
  ];
  for (const headers of refused) {
    const { status, text } = await send("POST /chat/interactions", { body, headers });
    expect([status, text]).toEqual([401, ""]);
  }
  // One line an hour says that the clock is wrong, whoever asks; a forged time says nothing.
  const said = server
    .output()
    .match(/Cannot accept a command in chat: its time is 30\d s behind this machine's clock/g);
  expect(said).toHaveLength(1);
  expect(server.output().match(/Cannot accept a command in chat/g)).toHaveLength(1);
  const recent = { body, headers: signed(body, String(now - 290)) };
  const answer = await send("POST /chat/interactions", recent);
  expect([answer.status, answer.body]).toEqual([200, { type: 1 }]);
});

test("a signed body that is no interaction, or of no user, gets 400", async () => {
  const verify = interactionOf({ type: 2, data: { name: "verify" } }, ada);
  const ofNobody = JSON.stringify({ ...verify, member: undefined });
  for (const body of ["", "{", "[]", "{}", '{"type":2}', '{"type":99,"token":"t"}', ofNobody]) {
    const answer = await send("POST /chat/interactions", { body, headers: signed(body) });
    expect([body, answer.status]).toEqual([body, 400]);
  }
});

test("optional fields that are null are read as left out", async () => {
  const data = { name: "verify", type: 1, options: null, target_id: null, resolved: null };
  const typed = { ...interactionOf({ type: 2, data }, cyd), user: null, locale: null, guild_locale: null };
  expect(privateMessage(await sendInteraction(send, typed)).content).toContain("Rook & Bishop");
  const pressing = { data: { custom_id: "unlink", component_type: 2 }, message: { id: "1", flags: null } };
  const button = interactionOf({ type: 3, ...pressing }, { ...cyd, guildId: null });
  const direct = { ...button, guild_id: null, member: null };
  expect(urlsOf(privateMessage(await sendInteraction(send, direct)))).toEqual([`${server.url()}/me`]);
});

test("verify offers the flow of the guild's scope to a member without a link", async () => {
  const message = await told({ ...cyd, token: "secret-token-of-an-interaction" }, "verify");
  const [url = ""] = urlsOf(message);
  expect(url).toBe(`${server.url()}/verify?pid=${await pid()}&guildId=${guild}`);
  expect(message.content).toContain("Rook & Bishop");
  expect((await send(`GET ${url.slice(server.url().length) as `/${string}`}`)).status).toBe(200);
  expect(server.output()).not.toContain("secret-token-of-an-interaction");
});

test("verify shows a linked member the account, and buttons to update roles, change and unlink", async () => {
  const message = await told(bob, "verify");
  expect(message.content).toContain("Player 2");
  expect(message.content).toContain("player_2");
  expect(buttonsOf(message).map(({ custom_id, url }) => custom_id ?? url)).toEqual([
    "roles",
    `${server.url()}/verify?pid=${await pid()}&guildId=${guild}`,
    "unlink",
  ]);
});

test("the button roles gives the roles of the plan, and says so; pressed again it says that nothing changed", async () => {
  const owner = await signInOwner(server, ada.chatId);
  const scope = await pid();
  // The sweep of the new plan would give the role first.
  await expect
    .poll(async () => (await planOf(owner, scope)).status)
    .toMatchObject({ sweep: null, sweptAt: expect.any(String) as unknown });
  const roles = [{ id: "1", name: "Member" }];
  await platform.send(`PUT /control/guilds/${guild}/members/${flo.chatId}`, { body: { roles } });
  const first = await pressed(flo, "roles");
  expect(first.content).toContain(`<@&${verified.id}>`);
  const again = await pressed(flo, "roles");
  expect(again.content).toMatch(/already has the right roles\.$/);
  const unlinked = await pressed(cyd, "roles");
  expect(unlinked.content).toContain("Link your account");
  expect(urlsOf(unlinked)).toEqual(urlsOf(await told(cyd, "verify")));
});

test("unlink asks, and its button removes the link; a second press agrees", async () => {
  const asked = await told(eve, "unlink");
  expect(buttonsOf(asked).map(({ custom_id }) => custom_id)).toEqual(["unlink:yes"]);
  expect(asked.content).toContain("and a nickname that the bot gave you");
  expect(await gameOf(eve)).toBe("5");
  const removed = await pressed(eve, "unlink:yes");
  const again = await pressed(eve, "unlink:yes");
  expect(removed.content).toContain("no longer linked to you");
  expect(again).toEqual(removed);
  expect(await gameOf(eve)).toBeUndefined();
  const { body } = await send("GET /v2/events?from=oldest&types=link.removed", { key });
  expect(body.data?.events).toMatchObject([{ data: { chatId: eve.chatId, source: "user" } }]);
});

test("whois names the account of a member, and leads team members to the dashboard", async () => {
  for (const message of [
    await told(dan, "whois", { user: bob.chatId }),
    await told(dan, "Linked account", { target: bob.chatId }),
  ]) {
    expect([message.content.includes("Player 2"), buttonsOf(message)]).toEqual([true, []]);
  }
  const owner = await signInOwner(server, ada.chatId);
  const [page = ""] = urlsOf(await told(ada, "whois", { user: bob.chatId }));
  const opened = await owner.browser.get(page.slice(server.url().length));
  expect([opened.status, opened.text.includes("Player 2")]).toEqual([200, true]);
  const none = await told(dan, "whois", { user: cyd.chatId });
  expect(none.content).toContain("no linked account");
});

test("whois says whether the owner verified the account or somebody linked it by hand", async () => {
  const owner = await signInOwner(server, ada.chatId);
  const form = { pid: await pid(), chat: dan.chatId, game: "4", of: "user" };
  const asked = await owner.browser.post("/dashboard/links/link", { ...form, csrf: owner.csrfToken });
  const linked = await owner.browser.post("/dashboard/links/link", formOf(asked));
  expect(linked.status).toBe(303);
  const byHand = await told(cyd, "whois", { user: dan.chatId });
  expect(byHand.content).toContain("by hand");
  const flow = await told(cyd, "whois", { user: bob.chatId });
  expect(flow.content).toContain("verified by its owner");
});

test("whois with a game account names the members who are linked to it", async () => {
  for (const game of ["2", "player_2", "PLAYER_2"]) {
    const found = await told(dan, "whois", { game });
    expect([game, found.content]).toEqual([game, expect.stringMatching(/Player 2.*<@100002>/)]);
  }
  expect((await told(dan, "whois", { game: "9" })).content).toContain("No member of this community");
  expect((await told(dan, "whois", { game: "nobody-here" })).content).toContain("There is no user");
  const { content } = await told(dan, "whois", { game: "4" });
  expect(content).toMatch(/(<@\d+> ){70}…$/);
  const owner = await told(ada, "whois", { game: "2" });
  expect(urlsOf(owner)[0]).toContain("chatId=100002");
});

test("help lists what the member may use", async () => {
  const lines = (message: Message) =>
    [...message.content.matchAll(/\*\*\/(\S+)\*\*/g)].map(([, name]) => name);
  expect(lines(await told(dan, "help"))).toEqual(["verify", "unlink", "help"]);
  const moderator = { ...dan, permissions: String(2 ** 40) };
  expect(lines(await told(moderator, "help"))).toEqual(["verify", "unlink", "whois", "help"]);
  const everything = ["verify", "unlink", "whois", "update", "panel", "help"];
  expect(lines(await told({ ...dan, permissions: "8" }, "help"))).toEqual(everything);
  // A command has an English name wherever the chat platform lacks the language of the reader.
  expect(lines(await told({ ...dan, locale: "ar" }, "help"))).toEqual(["verify", "unlink", "help"]);
  expect(lines(await told({ ...dan, locale: "de" }, "help"))[0]).toBe("verifizieren");
});

test("whois says of a user who is not a member that one sentence, whatever is linked", async () => {
  for (const user of ["100099", "100005999"]) {
    const message = await told(ada, "whois", { user });
    expect(message.content).toBe(`<@${user}> is not a member of this community.`);
    expect(buttonsOf(message)).toEqual([]);
  }
});

test("a repeated signature gets the same answer, and does nothing again", async () => {
  const pressing = interactionOf({ type: 3, data: { custom_id: "unlink:yes" }, message: { id: "1" } }, hal);
  const body = JSON.stringify(pressing);
  const headers = signed(body);
  const upper = { ...headers, "x-signature-ed25519": headers["x-signature-ed25519"].toUpperCase() };
  const first = await Promise.all(
    [headers, upper].map((each) => send("POST /chat/interactions", { body, headers: each })),
  );
  expect(await gameOf(hal)).toBeUndefined();
  await send("PATCH /v2/game", { key, body: { chatId: hal.chatId, gameId: "8", guildId: guild } });
  const again = await send("POST /chat/interactions", { body, headers });
  for (const { text } of [...first, again]) expect(text).toBe(first[0]?.text);
  expect(await gameOf(hal)).toBe("8");
  const { body: log } = await send("GET /v2/events?from=oldest&types=link.removed", { key });
  const events = (log.data?.events ?? []) as unknown as ReadonlyArray<{ data: { chatId: string } }>;
  expect(events.filter(({ data }) => data.chatId === hal.chatId)).toHaveLength(1);
});

test("update changes the roles of another member, and says who is none", async () => {
  await platform.send(`PUT /control/guilds/${guild}/members/${gus.chatId}`, { body: { roles: [] } });
  const message = await told(ada, "update", { user: gus.chatId });
  expect(message.content).toContain(`<@&${verified.id}>`);
  const menu = await told(ada, "Update roles", { target: gus.chatId });
  expect(menu.content).toContain("already has the right roles");
  const nobody = await told(ada, "update", { user: "100099" });
  expect(nobody.content).toContain("not a member");
});

test("panel posts a message for everybody, with the text or a sentence", async () => {
  // No store takes a NUL or half a surrogate pair.
  const message = dataOf(await command(send, ada, "panel", { text: "Prove who you are\0\ud800" }));
  expect(message.flags).toBeUndefined();
  expect(message.allowed_mentions).toEqual({ parse: [] });
  expect(message.content).toContain("Rook & Bishop");
  expect(message.content).toContain("Prove who you are\ufffd\ufffd");
  expect(buttonsOf(message).map(({ custom_id, url }) => custom_id ?? url)).toEqual([
    `${server.url()}/verify?pid=${await pid()}&guildId=${guild}`,
    "roles",
  ]);
  const markup = "# Free [nitro](https://evil.example/a-b_c) <@100002> @everyone\n- **now**";
  const typed = dataOf(await command(send, ada, "panel", { text: markup })).content;
  expect(typed).toContain(String.raw`\# Free \[nitro\]\(https://evil.example/a-b_c) \<\@100002\> \@everyone`);
  expect(typed).toContain(String.raw`\- \*\*now\*\*`);
  for (const options of [{}, { text: "  " }]) {
    expect(dataOf(await command(send, ada, "panel", options)).content).toContain("Link your account");
  }
  const tooLong = await told(ada, "panel", { text: "a".repeat(301) });
  expect(tooLong.content).toContain("300");
});

/** The audit entries that each command and button leaves, as the same act on a page does. */
const left: Readonly<Record<string, ReadonlyArray<string>>> = {
  verify: [],
  unlink: [],
  whois: [],
  "Linked account": [],
  update: [],
  "Update roles": [],
  panel: ["panel.posted"],
  help: [],
  roles: [],
  "unlink:yes": ["link.removed"],
};

test("what a command changes is in the audit log, signed by the user who typed it", async () => {
  const owner = await signInOwner(server, ada.chatId);
  const listed = async () => {
    const { body } = await owner.send("GET /dashboard/api/audit?limit=100");
    return body.data?.entries as unknown as ReadonlyArray<{ action: string; actor: object; details: object }>;
  };
  const buttons = ["roles", "unlink", "unlink:yes"];
  expect(new Set(Object.keys(left))).toEqual(new Set([...listings.map(({ name }) => name), ...buttons]));
  const done: Record<string, ReadonlyArray<string>> = {};
  for (const name of Object.keys(left)) {
    const before = await listed();
    const options = name.includes(" ") ? { target: flo.chatId } : { user: flo.chatId, text: "Hello" };
    await (name.includes(":") || name === "roles"
      ? press(send, flo, name)
      : command(send, { ...flo, permissions: "8" }, name, options));
    const entries = await listed();
    const added = entries.slice(0, entries.length - before.length);
    for (const { actor } of added) expect(actor).toEqual({ type: "user", id: flo.chatId });
    done[name] = added.map(({ action }) => action);
  }
  expect(done).toEqual(left);
  const panel = (await listed()).find(({ action }) => action === "panel.posted");
  expect(panel?.details).toEqual({ guildId: guild, channelId: "70", messageId: null, text: "Hello" });
});

test("while the rules are paused, everything works but the roles, which say so", async () => {
  const owner = await signInOwner(server, ada.chatId);
  const pause = async (state: string) => {
    const { rules, nickname } = await planOf(owner, await pid());
    const body = { pid: await pid(), guildId: guild, rules, nickname, state };
    expect((await owner.send("PUT /dashboard/api/roles", { body })).status).toBe(200);
  };
  await pause("paused");
  expect(urlsOf(await told(ada, "verify"))[0]).toContain("/verify?");
  expect(urlsOf(dataOf(await command(send, ada, "panel")))[0]).toContain("/verify?");
  expect((await told(ada, "update", { user: bob.chatId })).content).toContain("paused");
  expect((await pressed(bob, "roles")).content).toContain("paused");
  await pause("on");
});

test("without a home, every command says so, and tells managers where to set it up", async () => {
  for (const permissions of ["0", "32", "8"]) {
    const asking = { ...ada, guildId: emptyGuild, permissions };
    const message = await told(asking, "verify");
    expect(message.content).toContain("not set up");
    expect(urlsOf(message)).toEqual(permissions === "0" ? [] : [`${server.url()}/dashboard/communities`]);
  }
});

test("in a direct message, every command leads to /me", async () => {
  const message = await told({ ...ada, guildId: null }, "verify");
  expect(urlsOf(message)).toEqual([`${server.url()}/me`]);
});

test("unknown commands and buttons answer that they are gone", async () => {
  for (const name of ["constructor", "ban"]) expect((await told(hal, name)).content).toContain("gone");
  for (const id of ["toString", "unlink:no"]) expect((await pressed(hal, id)).content).toContain("gone");
});

test("an answer names a command as the client of its reader shows it: in English, where the platform lacks the language", async () => {
  const shown = {
    de: "/verifizieren.",
    "es-419": "/verificar.",
    "en-GB": "/verify.",
    ar: "/verify.",
    lt: "/verify.",
  };
  for (const [locale, name] of Object.entries(shown)) {
    for (const message of [await told({ ...hal, locale }, "ban"), await pressed({ ...hal, locale }, "ban")]) {
      expect([locale, message.content]).toEqual([locale, expect.stringContaining(name)]);
    }
  }
});

test("the 21st command of a user within a minute has to wait", async () => {
  for (let count = 0; count < 20; count++) await told(busy, "verify");
  expect((await told(busy, "verify")).content).toContain("wait");
});

test("an answer that takes longer than 2 seconds is deferred", async () => {
  await platform.fail({ platform: "chat", mode: "slow", delayMs: 2_600, under: "/chat/api/guilds" });
  const started = Date.now();
  const answers = await Promise.all([
    command(send, hal, "update", { user: hal.chatId }),
    press(send, hal, "roles"),
    press(send, hal, "roles", 0),
  ]);
  expect(Date.now() - started).toBeLessThan(3_000);
  const deferred = { type: 5, data: { flags: 64 } };
  expect(answers.map(({ body }) => body)).toEqual([deferred, { type: 6 }, deferred]);
});

test("update says that a question got no answer, and no permission lacks for an item that does not exist", async () => {
  const owner = await signInOwner(server, ada.chatId);
  const route = "GET /game/api/users/:gameId/items/:item/:itemId";
  await platform.fail({ platform: "game", mode: "refused", code: "no_item", route, ending: "404" });
  await platform.fail({ platform: "game", mode: "down", under: "/game/api/users", ending: "405" });
  const rules = ["404", "405"].map((itemId) => ({
    roleId: pass,
    when: { is: "owner", item: "gamepass", itemId },
  }));
  expect((await putPlan(owner, { pid: await pid(), rules })).status).toBe(200);
  const { content } = await told(ada, "update", { user: gus.chatId });
  expect(content).toBe("This does not work right now. Please try again in a minute.");
});

test("while the platform is down, the answer says so", async () => {
  await platform.fail({ platform: "chat", mode: "down" });
  expect((await pressed(hal, "roles")).content).toContain("try again");
});

test("a community without a name is never called by the generated name of its account", async () => {
  const { content } = await told({ ...dan, guildId: unnamedGuild }, "verify");
  expect(content).toMatch(/to be verified in pid\S+\.$/);
});
