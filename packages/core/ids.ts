/** The identifiers are branded strings, so that a chat ID cannot be passed as a game ID. */
import { Schema } from "effect";

export { newUlid } from "./ulid.ts";

const matching = (pattern: RegExp, expected: string, example: string) =>
  Schema.String.check(Schema.isPattern(pattern, { description: expected, expected })).annotate({
    examples: [example],
  });

/** Makes the schema of an ID. The error of its `make` names the value and the expected form. */
const idOf = <const Name extends string>(
  name: Name,
  description: string,
  ...[pattern, expected, example]: Parameters<typeof matching>
) => {
  const schema = matching(pattern, expected, example).pipe(
    Schema.brand<Name>(name as Parameters<typeof Schema.brand<Name>>[0]),
    Schema.annotate({ identifier: name, description }),
  );
  const is = Schema.is(schema);
  return Object.defineProperty(schema, "make", {
    value: (text: string) => {
      if (is(text)) return text;
      throw new TypeError(`${name} is ${quoted(text)}, expected ${expected}`);
    },
  });
};

const quoted = (value: unknown): string =>
  typeof value === "string" ? `"${value.slice(0, 60)}"` : `of type ${typeof value}`;

/** @internal */
export const idRules = { chatId: "5 to 32 digits", gameId: "1 to 32 digits", guildId: "5 to 32 digits" };

/** The ID of a role, a channel, a group or an item. @internal */
export const Digits = Schema.String.check(Schema.isPattern(/^\d{1,32}$/u, { expected: "1 to 32 digits" }));

const chatIdPattern = /^\d{5,32}$/u;
const gameIdPattern = /^\d{1,32}$/u;

/** @internal */
export const isChatId = (value: unknown): value is ChatId =>
  typeof value === "string" && chatIdPattern.test(value);

/** @internal */
export const isGameId = (value: unknown): value is GameId =>
  typeof value === "string" && gameIdPattern.test(value);

/** A user of the chat platform: 5 to 32 digits. */
export const ChatId = idOf(
  "ChatId",
  "ID of a user of the chat platform",
  chatIdPattern,
  idRules.chatId,
  "100001",
);
export type ChatId = typeof ChatId.Type;

/** A user of the game platform: 1 to 32 digits. */
export const GameId = idOf("GameId", "ID of a user of the game platform", gameIdPattern, idRules.gameId, "1");
export type GameId = typeof GameId.Type;

/** A guild (community) of the chat platform: 5 to 32 digits. */
export const GuildId = idOf(
  "GuildId",
  "ID of a guild of the chat platform",
  /^\d{5,32}$/u,
  idRules.guildId,
  "700000000000000001",
);
export type GuildId = typeof GuildId.Type;

export const Pid = idOf(
  "Pid",
  "Public id of a data scope",
  /^pid_[0-9a-z]{16,64}$/u,
  '"pid_" and 16 or more of 0-9a-z',
  "pid_0123456789abcdefghij",
);
export type Pid = typeof Pid.Type;

/** @internal */
export const isGuildId = Schema.is(GuildId);
/** @internal */
export const isPid = Schema.is(Pid);

/** The public part of an API key, the 12 characters after `alk_`. */
export const KeyId = idOf(
  "KeyId",
  "Public id of an API key",
  /^[0-9A-Za-z]{12}$/u,
  "12 letters or digits",
  "Aa0Bb1Cc2Dd3",
);
export type KeyId = typeof KeyId.Type;

const sidText = matching(
  /^vs_[0-9A-Za-z_-]{43}$/u,
  '"vs_" and 43 characters of base64url',
  "vs_0123456789abcdefghijABCDEFGHIJ0123456789_-A",
);

/** The secret id of a verification session, with 256 random bits. It is never logged, and stored only encrypted. */
export const Sid = sidText.pipe(
  Schema.brand("Sid"),
  Schema.annotate({ identifier: "Sid", description: "Identifier of a verification session" }),
);
export type Sid = typeof Sid.Type;

/** @internal */
export const isSid = Schema.is(Sid);

/** The stored id of a verification session: a keyed hash of its sid, in the same form. */
export const SessionId = sidText.pipe(Schema.brand("SessionId"));
export type SessionId = typeof SessionId.Type;

/** How the log names a session. @internal */
export const sessionInLog = (id: SessionId): string => id.slice("vs_".length, "vs_".length + 8);

/** The stored id of a verification flow: a keyed hash of its browser's cookie. */
export type FlowId = string & { readonly FlowId: unique symbol };

/** The stored id of a sign-in: a keyed hash of its browser's cookie. */
export type SignInId = string & { readonly SignInId: unique symbol };
