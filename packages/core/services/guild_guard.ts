/**
 * The guild rules of every lookup and write.
 */
import { Context, Effect, Layer, Option } from "effect";
import type { DataScope } from "../data_scope.ts";
import { Forbidden, MissingParameter, type PlatformUnavailable } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import { ChatPlatform } from "../ports/chat_platform.ts";

/** How many questions about one request a platform is asked at once. */
export const questionsAtOnce = 8;

/** Why a request is not let into the guild that it names. */
export type GuildError = MissingParameter | Forbidden | PlatformUnavailable;

/** The guild that a request names, or null. */
export type RequestedGuild = GuildId | null;

/** Keeps a scope inside its guild, and its questions to the members of guilds that the bot is in. */
export class GuildGuard extends Context.Service<
  GuildGuard,
  {
    /**
     * Lets a request into the guild it names. A guild scope must name its own guild; a global one may leave it out,
     * and is then not held to any.
     */
    readonly enter: (scope: DataScope, guildId: RequestedGuild) => Effect.Effect<void, GuildError>;

    /** Whether the chat user is a member of the guild; without a guild, everybody is. */
    readonly isMember: (
      guildId: RequestedGuild,
      chatId: ChatId,
    ) => Effect.Effect<boolean, PlatformUnavailable>;

    /** Refuses a chat user who is not a member of the guild. */
    readonly requireMember: (
      guildId: RequestedGuild,
      chatId: ChatId,
      reason?: "user_not_in_guild" | "new_user_not_in_guild",
    ) => Effect.Effect<void, Forbidden | PlatformUnavailable>;
  }
>()("@accountlink/core/GuildGuard") {
  static readonly layer = Layer.effect(
    GuildGuard,
    Effect.gen(function* () {
      const platform = yield* ChatPlatform;

      const requireBot = Effect.fnUntraced(function* (guildId: GuildId) {
        if (Option.isNone(yield* platform.findGuild(guildId))) {
          return yield* new Forbidden({ reason: "bot_not_in_guild" });
        }
      });

      const isMember = (guildId: RequestedGuild, chatId: ChatId) =>
        guildId === null
          ? Effect.succeed(true)
          : Effect.map(platform.findMember(guildId, chatId), Option.isSome);

      return GuildGuard.of({
        isMember,

        enter: (scope, guildId) => {
          if (guildId === null) {
            return scope.kind === "guild"
              ? Effect.fail(new MissingParameter({ parameters: ["guildId"] }))
              : Effect.void;
          }
          return scope.kind === "guild" && scope.guildId !== guildId
            ? Effect.fail(new Forbidden({ reason: "wrong_guild" }))
            : requireBot(guildId);
        },

        requireMember: (guildId, chatId, reason = "user_not_in_guild") =>
          guildId === null
            ? Effect.void
            : Effect.flatMap(isMember(guildId, chatId), (member) =>
                member ? Effect.void : Effect.fail(new Forbidden({ reason })),
              ),
      });
    }),
  );
}
