/**
 * What Discord's values mean.
 */

const int64Max = 2n ** 63n - 1n;

/** Milliseconds from 1970 to the first second of 2015, where Discord's times begin. */
const epoch = 1_420_070_400_000n;

/** Whether the text is an ID as Discord writes them. Nothing else names anything there, and asking for it is an error. */
export const isSnowflake = (text: string): boolean =>
  /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= int64Max;

/** When the owner of an ID was made: an ID begins with the time. */
export const madeAt = (snowflake: string): string =>
  new Date(Number((BigInt(snowflake) >> 22n) + epoch)).toISOString();

/** Sizes in pixels; Discord has powers of two. */
const sizes = { avatars: 256, banners: 512 };

/** The address of a user's image. An image that moves has a hash that begins with `a_`. */
export const imageUrl = (
  kind: keyof typeof sizes,
  userId: string,
  hash: string | null | undefined,
): string | null => {
  if (hash === null || hash === undefined) return null;
  const extension = hash.startsWith("a_") ? "gif" : "png";
  return `https://cdn.discordapp.com/${kind}/${userId}/${hash}.${extension}?size=${sizes[kind]}`;
};
