import { GameId, GamePlatform } from "@accountlink/core";
import { featuresOf, type GameItem } from "@accountlink/core/platforms";
import { Effect, Option, Schema } from "effect";
import { expectEqual } from "./expect.ts";
import { type SuiteOptions, suite } from "./suite.ts";

/** What the platform of a test knows. What it does not have is left out. */
export interface GamePlatformFacts {
  readonly user: { readonly id: GameId; readonly username: string; readonly description?: string };
  /** The ID of a user that does not exist. */
  readonly absent: GameId;
  /** A group of the user. */
  readonly group?: { readonly id: string; readonly rank: number };
  readonly owned?: GameItem;
  readonly notOwned?: GameItem;
  readonly noItem?: GameItem;
}

/**
 * Checks an adapter of a game platform against a platform with a known user.
 *
 * @example
 * ```ts
 * import { GameId } from "@accountlink/core";
 * import { PlatformMemory } from "@accountlink/memory";
 * import { aFixture, aGameUser } from "@accountlink/testing";
 * import * as test from "vitest";
 *
 * const user = aGameUser("1", { username: "ada" });
 * const { platform } = aFixture({ platform: { gameUsers: [user] } });
 * const facts = { user: { id: user.id, username: "ada" }, absent: GameId.make("2") };
 * gamePlatformSuite({ name: "Memory", layer: PlatformMemory.layer(platform), test, facts });
 * ```
 */
export const gamePlatformSuite = ({
  facts: { user, absent, group, owned, notOwned, noItem },
  ...options
}: SuiteOptions<GamePlatform> & { readonly facts: GamePlatformFacts }): void =>
  suite("GamePlatform", options, {
    *"a user exists, with the ID that was asked for, and others do not"() {
      const game = yield* GamePlatform;
      expectEqual([yield* game.hasUser(user.id), yield* game.hasUser(absent)], [true, false]);
      const profile = Option.getOrThrow(yield* game.findProfile(user.id));
      expectEqual([profile.id, profile.username], [user.id, user.username]);
      expectEqual(yield* game.findProfile(absent), Option.none());
    },

    *"IDs are 1 to 32 digits, and the longest one is only unknown"() {
      const game = yield* GamePlatform;
      expectEqual([user.id, absent].map(Schema.is(GameId)), [true, true]);
      const longest = GameId.make("9".repeat(32));
      expectEqual(yield* game.hasUser(longest), false);
      expectEqual(yield* game.findProfile(longest), Option.none());
    },

    *"a user is found by the whole name in any letter case"() {
      const { findUserByName } = yield* GamePlatform;
      if (findUserByName === undefined) return;
      const { username, id } = user;
      for (const name of [username, username.toUpperCase(), username.toLowerCase()]) {
        expectEqual(yield* findUserByName(name), Option.some(id));
      }
      expectEqual(yield* findUserByName(username.slice(1)), Option.none());
    },

    *"the description of a user is read, and nothing of nobody"() {
      const { findDescription } = yield* GamePlatform;
      if (findDescription === undefined) return;
      expectEqual(yield* findDescription(user.id), Option.some(user.description ?? ""));
      expectEqual(yield* findDescription(absent), Option.none());
    },

    *"a group has its ranks, lowest first, and its members their rank"() {
      const game = yield* GamePlatform;
      if (group === undefined || game.findGroup === undefined) return;
      const { ranks } = Option.getOrThrow(yield* game.findGroup(group.id));
      expectEqual(
        ranks,
        ranks.toSorted((one, other) => one.rank - other.rank),
      );
      expectEqual(
        ranks.some(({ rank }) => rank === group.rank),
        true,
      );
      const found = yield* game.findProfile(user.id, ["groups"], [group.id]);
      const own = Option.getOrThrow(found).groups?.find(({ id }) => String(id) === group.id);
      expectEqual(own?.role?.rank, group.rank);
      expectEqual(yield* game.findGroup("404404404"), Option.none());
    },

    *"an item is owned, not owned, or no item"() {
      const game = yield* GamePlatform;
      const { hasItem } = game;
      if (hasItem === undefined) return;
      const { items } = yield* featuresOf(game);
      for (const [item, expected] of [
        [owned, "owned"],
        [notOwned, "not_owned"],
        [noItem, "no_item"],
      ] as const) {
        if (item === undefined) continue;
        expectEqual(items.includes(item.item), true);
        expectEqual(yield* hasItem(user.id, item), expected);
      }
    },

    "a user is asked for many times at once": Effect.flatMap(GamePlatform, (game) =>
      Effect.map(
        Effect.all(
          Array.from({ length: 20 }, () => game.hasUser(user.id)),
          { concurrency: "unbounded" },
        ),
        (found) => expectEqual(new Set(found), new Set([true])),
      ),
    ),
  });
