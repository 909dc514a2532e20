import { ChatId, GameId, GuildId, InvalidParameter, KeyId } from "@accountlink/core";
import { idRules } from "@accountlink/core/ids";
import { Effect, Schema } from "effect";

const reader = <Id extends string>(schema: Schema.Schema<Id>, expected: string) => {
  const is = Schema.is(schema);
  return (text: string, name: string): Effect.Effect<Id, InvalidParameter> =>
    is(text)
      ? Effect.succeed(text)
      : Effect.fail(InvalidParameter.one(name, `is ${quoted(text)}, expected ${expected}`));
};

const quoted = (value: unknown): string =>
  typeof value === "string" ? `"${value.slice(0, 60)}"` : `of type ${typeof value}`;

const readChatId = reader(ChatId, idRules.chatId);
const readGameId = reader(GameId, idRules.gameId);
const readGuildId = reader(GuildId, idRules.guildId);
const readKeyId = reader(KeyId, "12 letters or digits");

/** @param name the name of the parameter in the error for a malformed ID */
export const chatIdOf = (text: string, name = "chatId") => readChatId(text, name);
export const gameIdOf = (text: string) => readGameId(text, "gameId");
export const guildIdOf = (text: string) => readGuildId(text, "guildId");
export const keyIdOf = (text: string, name = "id") => readKeyId(text, name);
