/** Text channels on Discord, and the bot's messages in them. */
import type { GuildId } from "@accountlink/core";
import { type ChatChannels, PostRefused, type PrivateOutcome } from "@accountlink/core/platforms";
import { Effect, Option, Result, Schema } from "effect";
import { mayHaveActed, type ResilientClient } from "../../http/mod.ts";
import { ask, type Meaning } from "../answers.ts";
import {
  administrator,
  bySnowflake,
  type Channel,
  Channels,
  Identified,
  includesPosting,
  includesViewing,
  isSnowflake,
  RoledGuild,
  RoledMember,
} from "./discord_wire.ts";
import { findBotId, findGuildAs, findMemberAs } from "./lookups.ts";

const [text, category, announcements] = [0, 4, 5];

const everyPermission = (1n << 64n) - 1n;

const PostedMessage = Schema.Struct({ id: Schema.String, content: Schema.optional(Schema.String) });

export const discordChannels = (client: ResilientClient): ChatChannels => {
  const operation = "ChatChannels.findChannels";

  const findBot = Effect.fnUntraced(function* (guildId: GuildId) {
    const botId = yield* findBotId(client, operation);
    return yield* findMemberAs(client, guildId, botId, { operation, found: RoledMember });
  });

  const edit: ChatChannels["edit"] = Effect.fnUntraced(function* (channelId, messageId, message) {
    const edited = yield* ask(client, "PATCH /channels/{channel_id}/messages/{message_id}", {
      operation: "ChatChannels.edit",
      path: [channelId, messageId],
      body: { ...message, allowed_mentions: { parse: [] } },
      found: Schema.Unknown,
    });
    if (Result.isSuccess(edited)) return true;
    return edited.failure === "absent" ? false : yield* new PostRefused({ reason: edited.failure });
  });

  /** Posts a message. Returns its ID, or what a refusal means. */
  const send = Effect.fnUntraced(function* (channelId: string, message: object, once: string | undefined) {
    const posted = yield* ask(client, "POST /channels/{channel_id}/messages", {
      operation: "ChatChannels.post",
      path: [channelId],
      body: {
        ...message,
        allowed_mentions: { parse: [] },
        ...(once !== undefined && { nonce: once, enforce_nonce: true }),
      },
      found: PostedMessage,
    });
    if (Result.isFailure(posted)) return Result.fail(posted.failure);
    const { id, content } = posted.success;
    // Discord answers a known nonce with the message that has it, as it was posted.
    const isEarlier = once !== undefined && "content" in message && content !== message.content;
    if (isEarlier) yield* edit(channelId, id, message);
    return Result.succeed(id);
  });

  const post: ChatChannels["post"] = Effect.fnUntraced(function* (channelId, message, once) {
    const sent = yield* send(channelId, message, once);
    if (Result.isSuccess(sent)) return sent.success;
    return yield* new PostRefused({
      reason: ["message_refused", "bot_refused"].includes(sent.failure)
        ? "message_refused"
        : "channel_closed",
    });
  });

  return {
    findChannels: Effect.fnUntraced(function* (guildId) {
      const guild = yield* findGuildAs(client, guildId, { operation, found: RoledGuild });
      if (Option.isNone(guild)) return Option.none();
      const [bot, channels] = yield* Effect.all(
        [
          findBot(guildId),
          ask(client, "GET /guilds/{guild_id}/channels", {
            operation,
            path: [guildId],
            found: Channels,
          }),
        ],
        { concurrency: "unbounded" },
      );
      if (Option.isNone(bot) || Result.isFailure(channels)) return Option.none();
      const listed = asShown(channels.success).map((channel) => ({
        id: channel.id,
        name: channel.name,
        mayPost: includesPosting(permissionsIn(channel, guild.value, bot.value)),
        isPublic: includesViewing(permissionsIn(channel, guild.value, everybody)),
      }));
      return Option.some({ channels: listed, locale: guild.value.preferred_locale });
    }),

    post,

    postPrivately: Effect.fnUntraced(function* (chatId, message, once) {
      if (!isSnowflake(chatId)) return "closed";
      const opened = yield* ask(client, "POST /users/@me/channels", {
        operation: "ChatChannels.postPrivately",
        body: { recipient_id: chatId },
        found: Identified,
      });
      if (Result.isFailure(opened)) return outcomeOf(opened.failure);
      return yield* send(opened.success.id, message, once).pipe(
        Effect.map((sent) => (Result.isSuccess(sent) ? "sent" : outcomeOf(sent.failure))),
        Effect.catchTag("PostRefused", () => Effect.succeed("refused" as const)),
        Effect.catchIf(mayHaveActed, () => Effect.succeed("unanswered" as const)),
      );
    }),

    edit,
  };
};

const outcomeOf = (
  refusal: Meaning<"POST /channels/{channel_id}/messages" | "POST /users/@me/channels">,
): PrivateOutcome => {
  if (refusal === "takes_none") return "closed";
  return refusal === "bot_refused" ? refusal : "refused";
};

/** A member without a role of their own. */
const everybody = { user: { id: "" }, roles: [] };

/** Returns the text channels in Discord's order: channels without a category come first. */
const asShown = (channels: typeof Channels.Type): typeof Channels.Type => {
  const categories = new Map(
    channels.filter(({ type }) => type === category).map(({ id, position }) => [id, position]),
  );
  const categoryOf = ({ parent_id: parent }: (typeof channels)[number]) =>
    parent === null ? -1 : (categories.get(parent) ?? -1);
  return channels
    .filter(({ type }) => type === text || type === announcements)
    .toSorted(
      (one, other) =>
        categoryOf(one) - categoryOf(other) || one.position - other.position || bySnowflake(one.id, other.id),
    );
};

/**
 * Derives a member's permissions in a channel from the permissions of the member's roles, then the overwrites of the channel for
 * everybody, for all roles of the member together, and for the member.
 */
const permissionsIn = (
  { permission_overwrites }: typeof Channel.Type,
  { id: guildId, owner_id: owner, roles }: typeof RoledGuild.Type,
  { user, roles: held }: Pick<typeof RoledMember.Type, "roles"> & { readonly user: { readonly id: string } },
): bigint => {
  const base = roles
    .filter(({ id }) => id === guildId || held.includes(id))
    .reduce((all, { permissions }) => all | BigInt(permissions), 0n);
  if (owner === user.id || (base & administrator) !== 0n) return everyPermission;
  const overwrites = permission_overwrites ?? [];
  const sets: ReadonlyArray<(id: string) => boolean> = [
    (id) => id === guildId,
    (id) => held.includes(id),
    (id) => id === user.id,
  ];
  return sets.reduce((permissions, isMeant) => {
    const meant = overwrites.filter(({ id }) => isMeant(id));
    const denied = meant.reduce((all, { deny }) => all | BigInt(deny), 0n);
    const allowed = meant.reduce((all, { allow }) => all | BigInt(allow), 0n);
    return (permissions & ~denied) | allowed;
  }, base);
};
