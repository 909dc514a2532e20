import type { ChatId, GuildId } from "@accountlink/core";
import type { Forbidden, PlatformUnavailable, StoreUnavailable } from "@accountlink/core/errors";
import type { RolePlan } from "@accountlink/core/roles";
import type { Effect } from "effect";
import type { PlainKey } from "../languages/language.ts";
import type { Language } from "../languages/mod.ts";
import type { Message } from "./message.ts";

/** What a user asks in a guild whose role plan is on. */
export interface Asked {
  readonly plan: RolePlan;
  readonly guildId: GuildId;
  readonly chatId: ChatId;
  /** The user that the command is about: by default, the user who asks. */
  readonly target: ChatId;
  /** The text that the user typed, or null. */
  readonly text: string | null;
  /** The language of the user. */
  readonly language: Language;
  /** The language of the guild, for messages to everybody. */
  readonly guildLanguage: Language;
  readonly requestId: string;
}

export type Answer = (
  asked: Asked,
) => Effect.Effect<Message, Forbidden | PlatformUnavailable | StoreUnavailable>;

/** How the chat platform lists a command. */
export interface Listing {
  /** The English name, which identifies the command in every language. It is never changed. */
  readonly name: string;
  /** The keys of the texts. An entry in the menu of a user has no description. */
  readonly texts: { readonly name: PlainKey; readonly description: PlainKey | null };
  readonly option?: "user" | "text";
  /** The permission that a member needs by default, by the number of its bit; null for everybody. */
  readonly permission: number | null;
}

/** @internal */
export const optionTexts = {
  user: { name: "chat.option.user.name", description: "chat.option.user.description" },
  text: { name: "chat.option.text.name", description: "chat.option.text.description" },
} as const satisfies Record<NonNullable<Listing["option"]>, Listing["texts"]>;
