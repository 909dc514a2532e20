/** Lookups that several ports make. An ID that Discord cannot have needs no request. */
import { Effect, Result } from "effect";
import type { ResilientClient } from "../../http/mod.ts";
import { ask, type RouteRequest } from "../answers.ts";
import { Identified, isSnowflake } from "./discord_wire.ts";

type Asking<A> = Pick<RouteRequest<A>, "operation" | "found" | "query">;

export const findBotId = (client: ResilientClient, operation: string) =>
  Effect.map(
    ask(client, "GET /users/@me", { operation, found: Identified }),
    (bot) => Result.getOrThrow(bot).id,
  );

export const findGuildAs = <A extends { readonly id: string }>(
  client: ResilientClient,
  guildId: string,
  asking: Asking<A>,
) =>
  isSnowflake(guildId)
    ? Effect.map(
        ask(client, "GET /guilds/{guild_id}", {
          ...asking,
          path: [guildId],
          matches: ({ id }) => id === guildId,
        }),
        Result.getSuccess,
      )
    : Effect.succeedNone;

export const findMemberAs = <A extends { readonly user: { readonly id: string } }>(
  client: ResilientClient,
  guildId: string,
  chatId: string,
  asking: Asking<A>,
) =>
  isSnowflake(guildId) && isSnowflake(chatId)
    ? Effect.map(
        ask(client, "GET /guilds/{guild_id}/members/{user_id}", {
          ...asking,
          path: [guildId, chatId],
          matches: ({ user }) => user.id === chatId,
        }),
        Result.getSuccess,
      )
    : Effect.succeedNone;
