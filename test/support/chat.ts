/** Sends what users do in chat, signed as the chat platform signs it. */
import { generateKeyPairSync, sign } from "node:crypto";
import { guild } from "./fixtures.ts";
import type { Answer, Send } from "./http.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");

/** The value of `ACCOUNTLINK_CHAT_PUBLIC_KEY` for servers that get these interactions. */
export const chatKey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");

export interface Sender {
  readonly chatId: string;
  readonly guildId?: string | null;
  /** The decimal permission bits of the member. */
  readonly permissions?: string;
  readonly token?: string;
  readonly locale?: string;
}

let interactions = 900_000_000_000_000;

export const interactionOf = (
  done: object,
  { chatId, guildId = guild, permissions = "0", token = "a-token", locale = "en-US" }: Sender,
) => ({
  id: String(++interactions),
  application_id: "800000000000000001",
  token,
  version: 1,
  locale,
  ...(guildId === null
    ? { user: { id: chatId } }
    : {
        guild_id: guildId,
        guild_locale: "en-US",
        channel_id: "70",
        member: { user: { id: chatId }, roles: [], permissions },
      }),
  ...done,
});

export const signed = (body: string, timestamp = String(Math.floor(Date.now() / 1_000))) => ({
  "content-type": "application/json",
  "x-signature-ed25519": sign(null, Buffer.from(timestamp + body), privateKey).toString("hex"),
  "x-signature-timestamp": timestamp,
});

export const sendInteraction = (send: Send, interaction: object): Promise<Answer> => {
  const text = JSON.stringify(interaction);
  return send("POST /chat/interactions", { body: text, headers: signed(text) });
};

/** Types a command, or chooses an entry of a user's menu if `target` is given. */
export const command = (
  send: Send,
  sender: Sender,
  name: string,
  { user, text, game, target }: { readonly [Name in "user" | "text" | "game" | "target"]?: string } = {},
): Promise<Answer> => {
  const options = [
    ...(user === undefined ? [] : [{ name: "user", type: 6, value: user }]),
    ...(game === undefined ? [] : [{ name: "game", type: 3, value: game }]),
    ...(text === undefined ? [] : [{ name: "text", type: 3, value: text }]),
  ];
  const data = target === undefined ? { name, type: 1, options } : { name, type: 2, target_id: target };
  return sendInteraction(send, interactionOf({ type: 2, data }, sender));
};

export const press = (send: Send, sender: Sender, customId: string, flags = 64): Promise<Answer> =>
  sendInteraction(
    send,
    interactionOf(
      { type: 3, data: { custom_id: customId, component_type: 2 }, message: { id: "1", flags } },
      sender,
    ),
  );
