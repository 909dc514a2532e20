/** Messages of the bot: their markup, and their form in the chat platform's API. */
// The enums of discord-api-types exist at run time, and this package only uses its types.
/* oxlint-disable typescript/no-unsafe-enum-assignment */
import type { ChatId, GameId } from "@accountlink/core";
import { visibleName } from "@accountlink/core/name_text";
import type { GameProfile } from "@accountlink/core/platforms";
import type { Millis } from "@accountlink/core/timestamp";
import type {
  APIActionRowComponent,
  APIButtonComponent,
  APIInteractionResponse,
} from "discord-api-types/v10";

/** The actions of buttons. Messages in chats keep their buttons, so a released action stays. */
export type ButtonAction = "roles" | "unlink" | "unlink:yes";

export type Button =
  | { readonly label: string; readonly url: string }
  | { readonly label: string; readonly action: ButtonAction; readonly isDangerous?: boolean };

export interface Message {
  readonly content: string;
  readonly buttons?: ReadonlyArray<Button>;
  /** Whether everybody in the channel sees the message; otherwise only the user who asked. */
  readonly isPublic?: boolean;
}

/** A message for one user has this flag. */
const ephemeral = 64;

/** @param flags of a message; null if the chat platform left them out */
export const isPublicMessage = (flags: number | null): boolean => flags !== null && (flags & ephemeral) === 0;

const [longestContent, longestLabel] = [2_000, 80];

/** Names in a text may have overrides of its direction. */
const directions = /[\u202A-\u202E\u2066-\u2069]/g;

/** Cuts a text to a number of UTF-16 units, of which none is half a character: the chat platform refuses one. */
const cutTo = (text: string, most: number): string =>
  text
    .replace(directions, "")
    .slice(0, most)
    .replace(/[\uD800-\uDBFF]$/, "");

/** The fields that answers and their later edits share. Mentions in messages notify nobody. */
export const messageBody = ({ content, buttons = [] }: Message) => ({
  content: cutTo(content, longestContent),
  allowed_mentions: { parse: [] },
  components: buttons.length === 0 ? [] : [row(buttons)],
});

const row = (buttons: ReadonlyArray<Button>): APIActionRowComponent<APIButtonComponent> => ({
  type: 1,
  components: buttons.map(buttonBody),
});

const buttonBody = (button: Button): APIButtonComponent => {
  const label = cutTo(button.label, longestLabel);
  if ("url" in button) return { type: 2, style: 5, label, url: button.url };
  return { type: 2, style: button.isDangerous === true ? 4 : 2, label, custom_id: button.action };
};

export const pong: APIInteractionResponse = { type: 1 };

export const answerBody = (message: Message): APIInteractionResponse => ({
  type: 4,
  data: { ...messageBody(message), ...(message.isPublic === true ? {} : { flags: ephemeral }) },
});

/**
 * Promises an answer.
 *
 * @param canReplace whether the answer may replace the message of the button
 * @param isPublic whether everybody will see the answer
 */
export const deferral = (canReplace: boolean, isPublic: boolean): APIInteractionResponse => {
  if (canReplace) return { type: 6 };
  return { type: 5, data: isPublic ? {} : { flags: ephemeral } };
};

/**
 * Escapes Markdown, mentions and URLs, so that the chat platform shows a name as it was typed, also within the markup of
 * a message.
 */
export const plain = (name: string): string => name.replace(/[\\*_~`|>#[\]()<@+-]|:(?=\/\/)/g, "\\$&");

/**
 * Escapes Markdown and mentions in a text beside the markup of a message. URLs stay as they are: the chat platform links
 * them, and shows a backslash within a URL.
 */
export const plainText = (text: string): string =>
  text
    .split(/(https?:\/\/[^\s<>]+)/)
    .map((part, index) => (index % 2 === 0 ? plain(part) : part))
    .join("");

/** The chat platform shows a mention as the member's name. */
export const userText = (chatId: ChatId): string => `<@${chatId}>`;

export const rolesText = (roleIds: ReadonlyArray<string>): string =>
  roleIds.map((id) => `<@&${id}>`).join(" ");

/** The chat platform shows a day in the language and the time zone of the reader. */
export const dayText = (at: Millis): string => `<t:${Math.floor(at / 1_000)}:D>`;

/** The same for a moment, rounded up to the minute that the platform shows. */
export const timeText = (at: Millis): string => `<t:${Math.ceil(at / 60_000) * 60}:f>`;

/** @param page the URL of the user's page on the game platform; null if the user has none */
export const accountText = (gameId: GameId, profile: GameProfile | null, page: string | null): string => {
  const username = profile?.username ?? null;
  const name = `**${plain(visibleName(profile) ?? gameId)}**`;
  const linked = page === null ? name : `[${name}](<${page}>)`;
  return username === null ? linked : `${linked} (\`${username.replaceAll("`", "'")}\`)`;
};
