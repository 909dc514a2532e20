import { Context, type Effect, type Option } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { GameId } from "../ids.ts";
import type { GameProfile } from "./profile.ts";

export class GamePlatform extends Context.Service<
  GamePlatform,
  {
    readonly hasUser: (gameId: GameId) => Effect.Effect<boolean, PlatformUnavailable>;

    /** Returns the public profile of a user. None if the user does not exist. */
    readonly findProfile: (gameId: GameId) => Effect.Effect<Option.Option<GameProfile>, PlatformUnavailable>;

    /** Finds a user by user name, ignoring case. Undefined if the platform cannot find users by name. */
    readonly findUserByName?: (username: string) => Effect.Effect<Option.Option<GameId>, PlatformUnavailable>;

    /** Returns the name of a group. Undefined if the platform has no groups. */
    readonly findGroupName?: (groupId: string) => Effect.Effect<Option.Option<string>, PlatformUnavailable>;
  }
>()("@accountlink/core/GamePlatform") {}
