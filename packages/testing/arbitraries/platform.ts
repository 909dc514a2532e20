/** Arbitraries of the platform users and guilds in a fixture. */
import type { MemberFixture, PlatformFixture } from "@accountlink/core/fixture";
import { array, boolean, constantFrom, nat, record, uniqueArray } from "fast-check";
import { orNull, recordOf } from "./fields.ts";
import { chatId, gameId, guildId } from "./ids.ts";
import { name, text, timestamp } from "./texts.ts";

const textOrNull = orNull(text);
const flag = orNull(boolean());
const url = constantFrom("https://cdn.example/1.png", "https://cdn.example/%F0%9F%8E%AE.png?size=4096");

export const chatUser = recordOf<PlatformFixture["chatUsers"][number]>({
  id: chatId,
  username: textOrNull,
  displayName: textOrNull,
  avatar: orNull(url),
  banner: orNull(url),
  created: orNull(timestamp),
  connections: array(record({ gameId, verified: boolean() }), { maxLength: 3 }),
});

const badge = record({ id: nat(), name: textOrNull, description: textOrNull, imageUrl: orNull(url) });

const group = record({
  id: nat(),
  name: textOrNull,
  memberCount: orNull(nat()),
  hasVerifiedBadge: flag,
  role: orNull(record({ id: nat(), name: textOrNull, rank: orNull(nat(255)) })),
});

export const gameUser = recordOf<PlatformFixture["gameUsers"][number]>({
  id: gameId,
  username: textOrNull,
  displayName: textOrNull,
  description: textOrNull,
  created: orNull(timestamp),
  isBanned: flag,
  hasVerifiedBadge: flag,
  avatar: orNull(record({ headshot: orNull(url), fullBody: orNull(url) })),
  badges: orNull(array(badge, { maxLength: 3 })),
  groups: orNull(array(group, { maxLength: 3 })),
  items: array(
    record({ item: constantFrom("gamepass", "badge", "asset"), itemId: gameId, name: textOrNull }),
    { maxLength: 3 },
  ),
});

export const member = recordOf<MemberFixture>({
  chatId,
  manager: boolean(),
  nickname: textOrNull,
  joined: orNull(timestamp),
  roles: array(record({ id: guildId, name: textOrNull }), { maxLength: 3 }),
  pending: constantFrom(false),
});

/**
 * A guild without duplicate members. Three of four guilds have the bot.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 *
 * const manager = Arbitrary.member({ manager: fc.constant(true) });
 * const platform = fc.record({
 *   guilds: fc.array(Arbitrary.guild({ members: fc.array(manager, { maxLength: 1 }) })),
 *   chatUsers: fc.array(Arbitrary.chatUser()),
 *   gameUsers: fc.array(Arbitrary.gameUser({ isBanned: fc.constant(false) })),
 * });
 * const isManaged = ({ members }: { members: ReadonlyArray<{ manager: boolean }> }) =>
 *   members.every((member) => member.manager);
 * fc.assert(fc.property(platform, ({ guilds }) => guilds.every(isManaged)));
 * ```
 */
export const guild = recordOf<Omit<PlatformFixture["guilds"][number], "owner" | "channels" | "locale">>({
  id: guildId,
  name: orNull(name),
  bot: constantFrom(true, true, true, false),
  roles: array(record({ id: guildId, name, assignable: boolean() }), { maxLength: 3 }),
  members: uniqueArray(member(), { selector: (one) => one.chatId, maxLength: 5 }),
});
