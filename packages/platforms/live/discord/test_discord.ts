/** For tests: a Discord API with one guild, in the formats that Discord documents. */
import { type ChatId, ChatPlatform, type GuildId } from "@accountlink/core";
import {
  type HeardRequest,
  type HttpAnswer,
  type HttpAnswering,
  startPlatformServer,
} from "@accountlink/test-servers";
import { Context, Duration, Effect, Layer, Redacted } from "effect";
import { FetchHttpClient } from "effect/http";
import type { Resilience } from "../../http/mod.ts";
import { liveChatPlatform } from "./chat_platform.ts";

export const botToken = "the-token-of-the-bot";
export const guildId = "197038439483310086" as GuildId;
/** A guild that the bot is not in. */
export const foreignGuildId = "81384788765712384" as GuildId;

/** Ada's ID is the example in Discord's documentation of snowflakes. */
export const ada = {
  id: "175928847299117063" as ChatId,
  username: "ada",
  global_name: "Ada Lovelace",
  discriminator: "0",
  avatar: "a_1269e74af4df7417b13759eae50c83dc",
  banner: "06c16474723fe537c283b8efa61a30c8",
  accent_color: 16711680,
  public_flags: 64,
};

/** A user with only the fields that Discord always sends. */
export const bob = { id: "82198898841029460" as ChatId, username: "bob", global_name: null, avatar: null };

/** No member of the guild `guildId`. */
export const eve = { id: "53908232506183680" as ChatId, username: "eve", global_name: null, avatar: null };

const users: ReadonlyArray<{ readonly id: string }> = [ada, bob, eve];

/** A role whose members may manage the guild. */
export const moderator = {
  id: "41771983423143936",
  name: "Moderator",
  position: 1,
  color: 3447003,
  permissions: "32",
};

const everyone = { id: guildId, name: "@everyone", position: 0, color: 0, permissions: "1071698660929" };

const roles = [everyone, moderator];

const members = [
  {
    user: ada,
    nick: "Countess",
    avatar: null,
    roles: ["41771983423143936", "41771983423143937"],
    joined_at: "2015-04-26T06:26:56.936000+00:00",
    deaf: false,
    mute: false,
    flags: 0,
  },
  { user: bob, roles: [], joined_at: null, deaf: false, mute: false, flags: 0 },
];

const refused = (status: number, code: number, message: string): HttpAnswer => ({
  status,
  body: { message, code },
});

export const unknownGuild = refused(404, 10_004, "Unknown Guild");
const unknownMember = refused(404, 10_007, "Unknown Member");
const unknownUser = refused(404, 10_013, "Unknown User");
export const missingAccess = refused(403, 50_001, "Missing Access");
const unauthorized = refused(401, 0, "401: Unauthorized");

/** A 429 for one route or for all routes. */
export const limited = (seconds: number, scope: "user" | "shared" | "global"): HttpAnswering => ({
  status: 429,
  headers: {
    "retry-after": String(Math.ceil(seconds)),
    "x-ratelimit-scope": scope,
    ...(scope === "global" ? { "x-ratelimit-global": "true" } : budget(0, seconds)),
  },
  body: { message: "You are being rate limited.", retry_after: seconds, global: scope === "global" },
});

/** Headers that allow this many further requests within this many seconds. */
export const budget = (remaining: number, seconds: number, bucket = "abcd1234"): Record<string, string> => ({
  "x-ratelimit-limit": "5",
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": "1470173023.123",
  "x-ratelimit-reset-after": String(seconds),
  "x-ratelimit-bucket": bucket,
});

/** The live chat platform on a server that answers like Discord. */
export const chatPlatformAt = (
  apiUrl: string,
  {
    token = botToken,
    resilience = {},
  }: { readonly token?: string; readonly resilience?: Partial<Resilience> } = {},
) => {
  const layer = liveChatPlatform({
    botToken: Redacted.make(token),
    publicUrl: "https://link.example",
    apiUrl,
    resilience: { backoff: Duration.millis(1), ...resilience },
  });
  return Effect.map(Layer.build(Layer.provide(layer, FetchHttpClient.layer)), Context.get(ChatPlatform));
};

const version = "/api/v10";

const pathOf = (path: string) => path.slice(version.length);

/**
 * Starts a server that answers like Discord.
 *
 * @param instead returns a different answer to a request, or undefined for the usual answer
 */
export const startDiscord = (
  instead: (path: string, request: HeardRequest) => HttpAnswering | undefined = () => undefined,
) =>
  Effect.map(
    startPlatformServer("discord", pathOf, (request) => {
      const path = pathOf(request.path);
      return instead(path, request) ?? answer(path, request);
    }),
    ({ url, heard }) => ({
      apiUrl: url + version,
      heard,
      takePaths: () => heard.splice(0).map((request) => pathOf(request.path)),
    }),
  );

const answer = (path: string, { headers }: HeardRequest): HttpAnswering => {
  // The access token of a user is the user's ID.
  const owner = users.find(({ id }) => headers.authorization === `Bearer ${id}`);
  if (owner !== undefined) return answerUser(path, owner);
  if (headers.authorization !== `Bot ${botToken}`) return unauthorized;

  const [, kind, id, part, memberId] = path.split("/");
  if (kind === "users" && id === "@me") return { body: [{ id: guildId, name: "Engine Room", owner: false }] };
  if (kind === "users") {
    const user = users.find((entry) => entry.id === id);
    return user === undefined ? unknownUser : { body: user };
  }
  if (id === foreignGuildId) return missingAccess;
  if (id !== guildId) return unknownGuild;
  if (part === undefined) return { body: { id: guildId, name: "Engine Room", roles, owner_id: ada.id } };
  if (part === "roles") return { body: roles };
  if (part === "members" && memberId === undefined) return { body: members };
  const member = members.find(({ user }) => user.id === memberId);
  if (member !== undefined) return { body: member };
  return users.some((user) => user.id === memberId) ? unknownMember : unknownUser;
};

/** The guild list that every user gets. The user's rights differ from guild to guild. */
const listedGuilds = [
  { id: guildId, name: "Engine Room", icon: null, owner: true, permissions: "0", features: [] },
  { id: foreignGuildId, name: "Foreign", icon: null, owner: false, permissions: "36953121", features: [] },
  { id: "81384788765712385", name: null, owner: false, permissions: "8" },
  { id: "81384788765712386", name: "Theirs", owner: false, permissions: "1071698660929" },
];

const answerUser = (path: string, owner: { readonly id: string }): HttpAnswering => {
  if (path === "/users/@me") return { body: owner };
  if (path === "/users/@me/guilds") return { body: listedGuilds };
  const member = members.find(({ user }) => user.id === owner.id);
  return path === `/users/@me/guilds/${guildId}/member` && member !== undefined
    ? { body: member }
    : unknownGuild;
};
