/** The users of both platforms. What each has follows from the ID, so that the checks ask no platform. */
import { decodeFixture } from "@accountlink/core";
import { Effect } from "effect";

/** The chat users that exist in every simulation, in addition to `erasedChatId`. */
export const chatIds = ["100001", "100002"];
/** Members of the guild who are never linked. */
export const unlinkedChatIds = ["100005", "100006", "100007"];
/** The chat user that clients of the kind `erasure` link and erase. Other clients do not use this chat user. */
export const erasedChatId = "100004";

/** Who makes the changes that no client of the simulation makes. */
export const origin = { actor: { type: "operator", id: "simulation" }, requestId: null } as const;

/** The team of an account with two communities. The owner chooses which communities each member reaches. */
export const team = {
  owner: "100011",
  members: ["100012", "100013"],
  /** Members of the team block and unblock this user. */
  blocked: "100014",
  /** The only user in the other community. */
  inSecond: "100015",
} as const;

/** The guild of the other community. */
export const secondGuild = "700000000000000002";

/** A group in which game users with an even ID are, and an item that every third one has. */
export const [group, pass] = [
  { id: "9", rank: 200 },
  { item: "gamepass", itemId: "55" },
] as const;

/** Between the ages of new accounts and old ones, in days. */
export const ageOfOld = 30;

const [old, young] = ["2020-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"] as const;

interface GameUser {
  readonly isInGroup: boolean;
  /** A private inventory counts as one without the item. */
  readonly item: "owned" | "not_owned" | "private";
  /** When the account was created; null if the platform does not tell, which counts as new. */
  readonly created: string | null;
}

export const gameUser = (id: string): GameUser => {
  const number = Number(id);
  const has = number % 3 === 0 ? "owned" : "not_owned";
  return {
    isInGroup: number % 2 === 0,
    item: number % 5 === 0 ? "private" : has,
    created: [old, old, young, null][number % 4] ?? null,
  };
};

/** Whether a game account is old enough for everything. */
export const isOldGame = (id: string): boolean => gameUser(id).created === old;

export const isOldChat = (id: string): boolean => id !== chatIds[1];

const gameUsers = 400;

const makers = {
  id: Number(group.id),
  name: "Makers",
  memberCount: gameUsers / 2,
  hasVerifiedBadge: false,
  role: { id: 1, name: "Officer", rank: group.rank },
};

const everybody = [
  ...chatIds,
  ...unlinkedChatIds,
  erasedChatId,
  team.owner,
  ...team.members,
  team.blocked,
  team.inSecond,
];

export const platform = await Effect.runPromise(
  decodeFixture(
    JSON.stringify({
      platform: {
        chatUsers: everybody.map((id) => ({
          id,
          username: `user_${id}`,
          created: isOldChat(id) ? old : young,
        })),
        guilds: [{ id: secondGuild, members: [{ chatId: team.inSecond }] }],
        gameUsers: Array.from({ length: gameUsers }, (_, index) => {
          const id = String(index + 1);
          const { isInGroup, created } = gameUser(id);
          return { id, username: `game_${id}`, created, groups: isInGroup ? [makers] : [] };
        }),
        gameGroups: [{ id: group.id, name: "Makers", ranks: [{ rank: group.rank, name: "Officer" }] }],
      },
    }),
  ),
).then((fixture) => fixture.platform);
