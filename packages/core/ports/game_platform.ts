/**
 * The port for the game platform: its users.
 */
import { Context, type Effect, type Option } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { GameId } from "../ids.ts";
import type { GameProfile } from "../profile.ts";

/** What the service asks the game platform. */
export class GamePlatform extends Context.Service<
  GamePlatform,
  {
    /** Whether there is such a user. */
    readonly hasUser: (gameId: GameId) => Effect.Effect<boolean, PlatformUnavailable>;

    /** Everything public about a user, or none when there is no such user. */
    readonly findProfile: (gameId: GameId) => Effect.Effect<Option.Option<GameProfile>, PlatformUnavailable>;
  }
>()("@accountlink/core/GamePlatform") {}
