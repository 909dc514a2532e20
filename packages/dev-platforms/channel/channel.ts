/** The simulated channels of each guild: messages of the bot, and the commands and buttons of members. */
import { ChatId } from "@accountlink/core";
import type { FixtureGuild } from "@accountlink/core/fixture";
import { interactionsPath, listings } from "@accountlink/pages/chat";
import { Data, Effect, Schema } from "effect";
import { Hex } from "effect/encoding";
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http";
import type { PlatformState } from "../simulation.ts";
import { AnswerMessage } from "../wire.ts";

/** As at Discord, the service has 3 seconds to answer. */
const answerTime = "3 seconds";

const shownMessages = 50;

const applicationId = "100000000000000000";

const Answer = Schema.Union([
  Schema.Struct({ type: Schema.Literals([4, 7]), data: AnswerMessage }),
  Schema.Struct({
    type: Schema.Literal(5),
    data: Schema.optional(Schema.Struct({ flags: Schema.optional(Schema.Int) })),
  }),
  Schema.Struct({ type: Schema.Literal(6) }),
]);

export interface ChannelMessage {
  readonly id: string;
  /** The member whose command or button the message answers, and what the member did; null if the bot just wrote. */
  readonly chatId: ChatId | null;
  readonly asked: string;
  /** Null until a deferred answer is edited. */
  message: AnswerMessage | null;
  readonly isPublic: boolean;
}

/** A failed command, with a text for the page. */
class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly problem: string }> {}

/** @param serviceUrl the public URL of the service that answers commands */
export const makeChannels = Effect.fnUntraced(function* (
  { chatUsers }: PlatformState,
  serviceUrl: string | undefined,
) {
  const { privateKey, publicKey } = yield* Effect.promise(() =>
    crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]),
  );
  const exported = yield* Effect.promise(() => crypto.subtle.exportKey("raw", publicKey));
  const channels = new Map<string, Array<ChannelMessage>>();
  const byToken = new Map<string, ChannelMessage>();

  const post = (guildId: string, posted: ChannelMessage) => {
    const channel = [...(channels.get(guildId) ?? []), posted];
    channels.set(guildId, channel.slice(-shownMessages));
  };

  const ask = Effect.fnUntraced(function* (body: object) {
    if (serviceUrl === undefined)
      return yield* new NoAnswer({ problem: "No service answers commands here." });
    const text = JSON.stringify(body);
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = yield* Effect.promise(() =>
      crypto.subtle.sign("Ed25519", privateKey, new TextEncoder().encode(timestamp + text)),
    );
    return yield* HttpClientRequest.post(`${serviceUrl}${interactionsPath}`).pipe(
      HttpClientRequest.bodyText(text, "application/json"),
      HttpClientRequest.setHeaders({
        "x-signature-ed25519": Hex.encode(new Uint8Array(signature)),
        "x-signature-timestamp": timestamp,
        // A service that stops waits for its idle connections.
        connection: "close",
      }),
      HttpClient.execute,
      Effect.flatMap(HttpClientResponse.filterStatusOk),
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Answer)),
      Effect.timeout(answerTime),
      Effect.provide(FetchHttpClient.layer),
      Effect.mapError(() => new NoAnswer({ problem: "The service did not respond." })),
    );
  });

  const interact = Effect.fnUntraced(function* (
    guild: FixtureGuild,
    chatId: ChatId,
    asked: string,
    done: object,
    pressed: ChannelMessage | null,
  ) {
    const member = guild.member(chatId);
    const token = crypto.randomUUID();
    const posted: ChannelMessage = { id: token, chatId, asked, message: null, isPublic: false };
    // The service may edit its answer before the page has read the answer.
    byToken.set(token, posted);
    const answer = yield* ask({
      ...done,
      id: "1",
      version: 1,
      application_id: applicationId,
      token,
      guild_id: guild.id,
      channel_id: [...guild.channels.keys()][0],
      locale: "en-US",
      guild_locale: guild.locale,
      member: { user: { id: chatId }, roles: [], permissions: member?.manager === true ? "8" : "0" },
    });
    if (answer.type === 6 || answer.type === 7) {
      if (pressed === null) return;
      byToken.set(token, pressed);
      pressed.message = answer.type === 7 ? answer.data : (posted.message ?? pressed.message);
      return;
    }
    const isPublic = ((answer.data?.flags ?? 0) & 64) === 0;
    const shown = { ...posted, isPublic, message: answer.type === 4 ? answer.data : posted.message };
    byToken.set(token, shown);
    post(guild.id, shown);
  });

  return {
    application: { id: applicationId, publicKey: Hex.encode(new Uint8Array(exported)) },
    /** What the member sees, newest last. */
    messagesFor: (guildId: string, chatId: string) =>
      (channels.get(guildId) ?? []).filter((shown) => shown.isPublic || shown.chatId === chatId),
    postsIn,
    /** Replaces a message. Returns false for an unknown token. */
    edit: (token: string, message: AnswerMessage) => {
      const shown = byToken.get(token);
      if (shown !== undefined) shown.message = message;
      return shown !== undefined;
    },
    /** Sends a typed command, such as `/whois ada`. */
    type: Effect.fnUntraced(function* (guild: FixtureGuild, chatId: ChatId, text: string) {
      const allowed = listings.filter((listing) => mayUse(listing, guild, chatId));
      const data = commandIn(text, allowed, (name) => findMember(chatUsers, guild, name));
      if (data === null)
        return yield* new NoAnswer({
          problem: `There is no command "${text}" for this member, or no member with that name.`,
        });
      yield* interact(guild, chatId, text, { type: 2, data }, null);
    }),
    press: Effect.fnUntraced(function* (
      guild: FixtureGuild,
      chatId: ChatId,
      messageId: string,
      action: string,
    ) {
      const posts = [...guild.channels.keys()].flatMap((channelId) => postsIn(guild, channelId));
      const pressed =
        [...(channels.get(guild.id) ?? []), ...posts].find(({ id }) => id === messageId) ?? null;
      const label = pressed === null ? action : labelOf(pressed, action);
      const data = { custom_id: action, component_type: 2 };
      const message = { id: messageId, flags: pressed?.isPublic === true ? 0 : 64 };
      yield* interact(guild, chatId, label, { type: 3, data, message }, pressed);
    }),
  };
});

/** The newest messages that the bot posted in a channel, newest last. */
const postsIn = ({ messages }: FixtureGuild, channelId: string): ReadonlyArray<ChannelMessage> =>
  [...messages.values()]
    .filter((posted) => posted.channelId === channelId)
    .slice(-shownMessages)
    .map(({ id, message }) => ({
      id,
      chatId: null,
      asked: "",
      message: message as AnswerMessage,
      isPublic: true,
    }));

export const buttonsOf = ({ message }: ChannelMessage) =>
  (message?.components ?? []).flatMap(({ components }) => components);

const labelOf = (pressed: ChannelMessage, action: string): string =>
  buttonsOf(pressed).find((button) => button.custom_id === action)?.label ?? action;

/** Whether a member gets a command: without changes by the guild, managers get all, and others those for everybody. */
export const mayUse = (
  { permission }: Pick<(typeof listings)[number], "permission">,
  guild: FixtureGuild,
  chatId: string,
): boolean => permission === null || guild.isManager(chatId);

const findMember = (
  chatUsers: PlatformState["chatUsers"],
  guild: FixtureGuild,
  text: string,
): ChatId | null => {
  const name = text.replace(/^<?@|>$/g, "");
  const user = [...chatUsers.values()].find(({ id, username }) => id === name || username === name);
  return user !== undefined && guild.member(user.id) !== undefined ? ChatId.make(user.id) : null;
};

/** Reads a typed command, as the chat platform sends it. Null if there is no such command. */
const commandIn = (
  text: string,
  allowed: typeof listings,
  memberOf: (name: string) => ChatId | null,
): object | null => {
  const typed = text.trim().replace(/^\//, "");
  const listing = allowed.find(({ name }) => typed === name || typed.startsWith(`${name} `));
  if (listing === undefined) return null;
  const { name, options = [] } = listing;
  const rest = typed.slice(name.length).trim();
  if (listing.texts.description === null) {
    const target = memberOf(rest);
    return target === null ? null : { name, type: 2, target_id: target };
  }
  const [first] = options;
  if (first === undefined || rest === "") return { name, type: 1, options: [] };
  const named = options.find((each) => rest.startsWith(`${each}:`));
  const option = named ?? first;
  const given = named === undefined ? rest : rest.slice(named.length + 1).trim();
  const isUser = option === "user";
  const value = isUser ? memberOf(given) : given;
  return value === null ? null : { name, type: 1, options: [{ name: option, type: isUser ? 6 : 3, value }] };
};
