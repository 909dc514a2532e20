import type { ChatChannels, ChatRoles } from "@accountlink/core/platforms";
import type { HttpAnswering } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Option } from "effect";
import { chatPlatformAt, eve, foreignGuildId, guildId, startDiscord } from "./test_discord.ts";

const bot = { id: "80351110224678912", username: "accountlink", bot: true };
const [see, send] = [1n << 10n, 1n << 11n];
const botRole = "41771983423143940";
const otherRole = "41771983423143941";
const text = "41771983423143950";
const message = "41771983423143960";

/** Overwrites of a role, or of the bot. */
const overwrite = (id: string, denied: bigint, allowed: bigint) => ({
  id,
  type: id === bot.id ? 1 : 0,
  deny: String(denied),
  allow: String(allowed),
});
const deny = (id: string, permissions: bigint) => overwrite(id, permissions, 0n);
const allow = (id: string, permissions: bigint) => overwrite(id, 0n, permissions);

const channel = (id: string, more: object, overwrites: ReadonlyArray<object> = []) => ({
  id,
  type: 0,
  name: `channel-${id.slice(-2)}`,
  position: 0,
  guild_id: guildId,
  permission_overwrites: overwrites,
  ...more,
});

interface World {
  readonly channels?: ReadonlyArray<object>;
  readonly everyone?: bigint;
  readonly owner?: string;
  readonly change?: HttpAnswering;
}

const setUp = Effect.fnUntraced(function* ({
  channels = [],
  everyone = see | send,
  owner = eve.id,
  change = { status: 404 },
}: World) {
  const discord = yield* startDiscord((path, { method }) => {
    if (method !== "GET") return change;
    if (path === "/users/@me") return { body: bot };
    if (path === `/guilds/${guildId}`) {
      const role = (id: string, permissions: bigint) => ({
        id,
        name: id,
        position: 0,
        permissions: String(permissions),
      });
      const roles = [role(guildId, everyone), role(botRole, 0n), role(otherRole, 8n)];
      return {
        body: { id: guildId, name: "Engine Room", owner_id: owner, preferred_locale: "pt-BR", roles },
      };
    }
    if (path === `/guilds/${guildId}/members/${bot.id}`) return { body: { user: bot, roles: [botRole] } };
    return path === `/guilds/${guildId}/channels` ? { body: channels } : undefined;
  });
  const chat = yield* chatPlatformAt(discord.apiUrl, { resilience: { failuresToOpen: 2, retries: 0 } });
  return { ...discord, channels: chat.channels as ChatChannels, roles: chat.roles as ChatRoles };
});

const mayPost = Effect.fnUntraced(function* (world: World) {
  const { channels } = yield* setUp(world);
  return Option.getOrThrow(yield* channels.findChannels(guildId)).channels.map((each) => each.mayPost);
});

test.each<[what: string, overwrites: ReadonlyArray<object>, mayPost: boolean]>([
  ["without overwrites", [], true],
  ["denied to everybody", [deny(guildId, send)], false],
  ["hidden from everybody", [deny(guildId, see)], false],
  ["denied to another role", [deny(otherRole, send)], true],
  ["denied to everybody, allowed to the bot's role", [allow(botRole, send), deny(guildId, send)], true],
  ["allowed to the bot's role, denied to the bot", [deny(bot.id, send), allow(botRole, send)], false],
  ["denied to the role, allowed to the bot", [deny(botRole, send | see), allow(bot.id, send | see)], true],
])("whether the bot may post in a channel follows from its overwrites: %s", function* ([, overwrites, may]) {
  expect(yield* mayPost({ channels: [channel(text, {}, overwrites)] })).toEqual([may]);
});

test("a channel is public unless it is hidden from everybody", function* () {
  const publicOf = Effect.fnUntraced(function* (overwrites: ReadonlyArray<object>, everyone?: bigint) {
    const world = { channels: [channel(text, {}, overwrites)], ...(everyone !== undefined && { everyone }) };
    const { channels } = yield* setUp(world);
    return Option.getOrThrow(yield* channels.findChannels(guildId)).channels.map((each) => each.isPublic);
  });
  expect(yield* publicOf([deny(guildId, send)])).toEqual([true]);
  expect(yield* publicOf([deny(guildId, see), allow(botRole, see | send)])).toEqual([false]);
  expect(yield* publicOf([], 0n)).toEqual([false]);
});

test("the bot posts nowhere without rights, and everywhere as an administrator or owner", function* () {
  const channels = [channel(text, {}, [deny(guildId, send)])];
  expect(yield* mayPost({ channels: [channel(text, {})], everyone: 0n })).toEqual([false]);
  expect(yield* mayPost({ channels, everyone: 8n })).toEqual([true]);
  expect(yield* mayPost({ channels, everyone: 0n, owner: bot.id })).toEqual([true]);
});

test("text channels are listed as members see them, with the language of the guild", function* () {
  const [top, low] = ["41771983423143951", "41771983423143952"];
  const { channels } = yield* setUp({
    channels: [
      channel(low, { type: 4, position: 2 }),
      channel(top, { type: 4, position: 1 }),
      channel("41771983423143953", { parent_id: low, position: 0 }),
      channel("41771983423143954", { parent_id: top, position: 7 }),
      channel("41771983423143955", { parent_id: top, position: 6, type: 5 }),
      channel("41771983423143956", { parent_id: null, position: 9 }),
      channel("41771983423143957", { type: 2 }),
    ],
  });
  const found = Option.getOrThrow(yield* channels.findChannels(guildId));
  expect(found.locale).toBe("pt-BR");
  expect(found.channels.map(({ id }) => id.slice(-2))).toEqual(["56", "55", "54", "53"]);
  expect(yield* channels.findChannels(foreignGuildId)).toEqual(Option.none());
});

test("a message mentions nobody", function* () {
  const posted = { id: message, channel_id: text, content: "Hi", timestamp: "2026-01-01T00:00:00Z" };
  const { channels, heard } = yield* setUp({ change: { body: posted } });
  expect(yield* channels.post(text, { content: "Hi", components: [] })).toBe(message);
  expect(yield* channels.edit(text, message, { content: "Ho" })).toBe(true);
  const bodies = heard.filter(({ method }) => method !== "GET").map(({ body }) => JSON.parse(body));
  expect(bodies).toEqual([
    { content: "Hi", components: [], allowed_mentions: { parse: [] } },
    { content: "Ho", allowed_mentions: { parse: [] } },
  ]);
});

test("a message that another process posted a moment ago is changed", function* () {
  const earlier = { id: message, channel_id: text, content: "Hi", timestamp: "2026-01-01T00:00:00Z" };
  const { channels, heard } = yield* setUp({ change: { body: earlier } });
  expect(yield* channels.post(text, { content: "Hi" }, "panel 1")).toBe(message);
  expect(yield* channels.post(text, { content: "Ho" }, "panel 1")).toBe(message);
  const sent = heard.filter(({ method }) => method !== "GET");
  expect(sent.map(({ method, body }) => [method, JSON.parse(body).content])).toEqual([
    ["POST", "Hi"],
    ["POST", "Ho"],
    ["PATCH", "Ho"],
  ]);
  expect(JSON.parse(sent[0]?.body ?? "")).toMatchObject({ nonce: "panel 1", enforce_nonce: true });
});

test.each<[what: string, answers: ReadonlyArray<HttpAnswering>, outcome: string]>([
  [
    "a user who takes messages",
    [{ body: { id: text, type: 1 } }, { body: { id: message, content: "Hi" } }],
    "sent",
  ],
  [
    "a user to whom the message is refused",
    [{ body: { id: text, type: 1 } }, { status: 400, body: { code: 50_035 } }],
    "refused",
  ],
  [
    "a user while Discord refuses the bot",
    [{ body: { id: text, type: 1 } }, { status: 403, body: { code: 20_026 } }],
    "bot_refused",
  ],
  ["a user whose answer is lost", [{ body: { id: text, type: 1 } }, { status: 502 }], "unanswered"],
  [
    "a user who takes none",
    [{ body: { id: text, type: 1 } }, { status: 403, body: { code: 50_007 } }],
    "closed",
  ],
])("a private message to %s", function* ([, answers, outcome]) {
  const left = [...answers];
  const discord = yield* startDiscord(() => left.shift() ?? { status: 404 });
  const chat = yield* chatPlatformAt(discord.apiUrl);
  expect(yield* chat.channels?.postPrivately(eve.id, { content: "Hi" }, "once") ?? Effect.void).toBe(outcome);
  expect(JSON.parse(discord.heard[0]?.body ?? "")).toEqual({ recipient_id: eve.id });
});

test("a role is made without rights", function* () {
  const role = { id: otherRole, name: "Officer", permissions: "0", position: 1, managed: false };
  const { roles, heard } = yield* setUp({ change: { body: role } });
  expect(yield* roles.makeRole?.(guildId, "Officer") ?? Effect.void).toEqual(Option.some(otherRole));
  expect(JSON.parse(heard.at(-1)?.body ?? "")).toEqual({ name: "Officer", permissions: 0 });
});
