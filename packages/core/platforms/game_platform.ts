/** The port for the game platform: its users. */
import { Context, type Effect, type Option } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { GameId } from "../ids.ts";
import type { GameProfile } from "./profile.ts";

/** Requests to the game platform. */
export class GamePlatform extends Context.Service<
  GamePlatform,
  {
    /** Whether the user exists. */
    readonly hasUser: (gameId: GameId) => Effect.Effect<boolean, PlatformUnavailable>;

    /** The public profile of a user. None if the user does not exist. */
    readonly findProfile: (gameId: GameId) => Effect.Effect<Option.Option<GameProfile>, PlatformUnavailable>;

    /** The user of a user name, in any letter case. Undefined if the platform finds nobody by name. */
    readonly findUserByName?: (username: string) => Effect.Effect<Option.Option<GameId>, PlatformUnavailable>;
  }
>()("@accountlink/core/GamePlatform") {}
