/** What a user did in chat, as the chat platform sends it. */
import { ChatId, GuildId } from "@accountlink/core";
import { Digits, isChatId } from "@accountlink/core/ids";
import { toStorable } from "@accountlink/core/storable_text";
import { Option, Redacted, Schema } from "effect";
import { isPublicMessage } from "./message.ts";

export interface Interaction {
  readonly applicationId: string;
  /** Allows to edit the answer. It is never logged. */
  readonly token: Redacted.Redacted;
  /** Each interaction has its own. */
  readonly signature: string;
  readonly chatId: ChatId;
  /** Null in a direct message. */
  readonly guildId: GuildId | null;
  /** The channel in which the user did it, if the platform names it. */
  readonly channelId: string | null;
  readonly isManager: boolean;
  /** The rights of the user in the guild, as bits. */
  readonly permissions: bigint;
  readonly locale: string;
  readonly guildLocale: string;
  readonly done: CommandDone | ButtonPressed;
}

interface CommandDone {
  readonly type: "command";
  /** The command's name, or the name of an entry in the menu of a user. */
  readonly name: string;
  readonly target: ChatId | null;
  readonly text: string | null;
}

interface ButtonPressed {
  readonly type: "button";
  readonly action: string;
  /** Whether everybody in the channel sees the message of the button. */
  readonly isPublic: boolean;
}

/** The chat platform sends some absent values as null. */
const absentable = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema));

const User = Schema.Struct({ id: ChatId });

const fields = {
  application_id: Schema.String.check(Schema.isPattern(/^\d{1,32}$/)),
  token: Schema.String.check(Schema.isPattern(/^[\w.~-]{1,1000}$/)),
  guild_id: absentable(GuildId),
  channel_id: absentable(Digits),
  member: absentable(
    Schema.Struct({
      user: User,
      permissions: absentable(Schema.String.check(Schema.isPattern(/^\d{1,20}$/))),
    }),
  ),
  user: absentable(User),
  locale: absentable(Schema.String),
  guild_locale: absentable(Schema.String),
};

/** Type 3 is a text, type 6 a user. */
const CommandOption = Schema.Struct({ type: Schema.Int, value: Schema.optional(Schema.Unknown) });

const Received = Schema.Union([
  Schema.Struct({ type: Schema.Literal(1) }),
  Schema.Struct({
    type: Schema.Literal(2),
    ...fields,
    data: Schema.Struct({
      name: Schema.String,
      target_id: absentable(ChatId),
      options: absentable(Schema.Array(CommandOption)),
    }),
  }),
  Schema.Struct({
    type: Schema.Literal(3),
    ...fields,
    data: Schema.Struct({ custom_id: Schema.String }),
    message: absentable(Schema.Struct({ flags: absentable(Schema.Int) })),
  }),
]);
type Received = typeof Received.Type;

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Received));

/** Reads the body of a request from the chat platform. None if it cannot be read; `ping` only tests the address. */
export const readInteraction = (body: Uint8Array, signature: string): Option.Option<Interaction | "ping"> =>
  Option.flatMap(decode(new TextDecoder().decode(body)), (received) => {
    if (received.type === 1) return Option.some("ping" as const);
    const { member } = received;
    const user = received.user ?? member?.user;
    if (user === undefined) return Option.none();
    const locale = received.locale ?? "en";
    const permissions = BigInt(member?.permissions ?? 0);
    return Option.some({
      applicationId: received.application_id,
      token: Redacted.make(received.token),
      signature,
      chatId: user.id,
      guildId: received.guild_id ?? null,
      channelId: received.channel_id ?? null,
      isManager: (permissions & managing) !== 0n,
      permissions,
      locale,
      guildLocale: received.guild_locale ?? locale,
      done: doneIn(received),
    });
  });

const doneIn = (received: Exclude<Received, { readonly type: 1 }>): Interaction["done"] => {
  if (received.type === 3) {
    const isPublic = isPublicMessage(received.message?.flags ?? null);
    return { type: "button", action: received.data.custom_id, isPublic };
  }
  const { name, target_id: target, options } = received.data;
  const valueOf = (type: number) => options?.find((option) => option.type === type)?.value;
  const [user, text] = [valueOf(6), valueOf(3)];
  return {
    type: "command",
    name,
    target: target ?? (isChatId(user) ? user : null),
    text: typeof text === "string" && text.trim() !== "" ? toStorable(text) : null,
  };
};

/** The permission bits of an administrator and of whoever may manage the guild. */
const managing = (1n << 3n) | (1n << 5n);
