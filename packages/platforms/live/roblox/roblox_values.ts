/** Converts Roblox's values to the types of `@accountlink/core`. */
import type { GameGroup, GameProfile } from "@accountlink/core/platforms";
import { DateTime } from "effect";
import type { GroupRole, Memberships, Thumbnails, User } from "./roblox_wire.ts";

/** Whether the text is a Roblox ID, which is an integer. Roblox answers requests for other texts with an error. */
export const isRobloxId = (text: string): boolean =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

/** The URL of the user's image once Roblox has rendered and approved it. */
export const imageOf = (thumbnails: (typeof Thumbnails.Type)["data"], gameId: string): string | null => {
  const own = thumbnails.find(({ targetId }) => String(targetId) === gameId);
  return own?.state === "Completed" ? (own.imageUrl ?? null) : null;
};

export const gameRole = ({ id, name, rank }: typeof GroupRole.Type) => ({
  id,
  name: name ?? null,
  rank: rank ?? null,
});

export const gameGroup = ({
  group,
  role,
}: (typeof Memberships.Type)["data"][number]): typeof GameGroup.Type => ({
  id: group.id,
  name: group.name ?? null,
  memberCount: group.memberCount ?? null,
  hasVerifiedBadge: group.hasVerifiedBadge ?? null,
  role: gameRole(role),
});

/** The parts of a profile that do not come from the users service. */
export interface ProfileParts {
  readonly headshot: string | null;
  readonly fullBody: string | null;
  readonly badges: GameProfile["badges"];
  readonly groups: GameProfile["groups"];
}

const isoOrNull = (time: DateTime.Utc | null | undefined): string | null =>
  time === null || time === undefined ? null : DateTime.formatIso(time);

export const gameProfile = (
  user: typeof User.Type,
  { headshot, fullBody, badges, groups }: ProfileParts,
): GameProfile => ({
  id: String(user.id),
  username: user.name,
  displayName: user.displayName ?? null,
  description: user.description ?? null,
  created: isoOrNull(user.created),
  isBanned: user.isBanned ?? null,
  hasVerifiedBadge: user.hasVerifiedBadge ?? null,
  avatar: { headshot, fullBody },
  badges,
  groups,
});
