/** IDs, times and image URLs in Discord's format. */

const int64Max = 2n ** 63n - 1n;

/** The epoch of snowflakes: the first second of 2015, in milliseconds since 1970. */
const epoch = 1_420_070_400_000n;

/** Whether the text is a Discord ID. Discord answers a request for anything else with an error. */
export const isSnowflake = (text: string): boolean =>
  /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= int64Max;

/** The creation time of an ID, which is the first part of a snowflake. */
export const createdAt = (snowflake: string): string =>
  new Date(Number((BigInt(snowflake) >> 22n) + epoch)).toISOString();

/** Bits of permissions. An administrator has every permission. */
const administrator = 0x8n;
const bits = { guild: 0x20n, nicknames: 1n << 27n, roles: 1n << 28n };

/** Whether permissions, as a decimal bit set, include the right to manage the guild, its nicknames or its roles. */
export const canManage = (permissions: string, what: keyof typeof bits = "guild"): boolean =>
  (BigInt(permissions) & (administrator | bits[what])) !== 0n;

/** Image sizes in pixels; Discord accepts powers of two. */
const sizes = { avatars: 256, banners: 512 };

/** The URL of a user's image. The hash of an animated image begins with `a_`. */
export const imageUrl = (
  kind: keyof typeof sizes,
  userId: string,
  hash: string | null | undefined,
): string | null => {
  if (hash === null || hash === undefined) return null;
  const extension = hash.startsWith("a_") ? "gif" : "png";
  return `https://cdn.discordapp.com/${kind}/${userId}/${hash}.${extension}?size=${sizes[kind]}`;
};
