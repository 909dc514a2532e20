/**
 * The guilds of a person, for the choice of one that gets a key.
 */
import { Context, Effect, Layer } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { GuildId } from "../ids.ts";
import { ChatPlatform } from "./chat_platform.ts";
import type { UserGuild } from "./profile.ts";

/**
 * A guild of a person.
 *
 * @internal
 */
export interface OwnGuild {
  readonly guildId: GuildId;
  readonly name: string | null;
  /** Whether the bot is in it. */
  readonly bot: boolean;
  /** Whether the person could manage it when they signed in. */
  readonly manager: boolean;
}

/**
 * Tells what can be done in the guilds of a person.
 *
 * @internal
 */
export class OwnGuilds extends Context.Service<
  OwnGuilds,
  {
    /** @param guilds as the platform listed them at the sign-in */
    readonly of: (
      guilds: ReadonlyArray<UserGuild>,
    ) => Effect.Effect<ReadonlyArray<OwnGuild>, PlatformUnavailable>;
  }
>()("@accountlink/core/OwnGuilds") {
  static readonly layer = Layer.effect(
    OwnGuilds,
    Effect.map(ChatPlatform, (platform) =>
      OwnGuilds.of({
        of: (guilds) =>
          Effect.map(platform.joinedGuilds(guilds.map(({ id }) => id)), (joined) =>
            guilds.map(({ id, name, manager }) => ({ guildId: id, name, bot: joined.has(id), manager })),
          ),
      }),
    ),
  );
}
