/**
 * ULIDs: 26 characters that sort by time. Random bytes are generated for many ULIDs at once, because every request and
 * event needs a ULID.
 */

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const [timeDigits, randomDigits] = [10, 16];

const pool = new Uint8Array(256 * randomDigits);
let used = pool.length;

/**
 * Returns a new ULID.
 *
 * @param millis the time of the ULID
 * @internal
 */
export const newUlid = (millis: number): string => timeText(millis) + randomText();

const timeText = (millis: number): string => {
  let text = "";
  let rest = Math.max(0, millis);
  for (let digit = 0; digit < timeDigits; digit++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};

/**
 * Returns the random part of a ULID. The first call fills `pool`, because Cloudflare Workers allow no random values
 * before their first request.
 */
const randomText = (): string => {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  let text = "";
  for (const end = used + randomDigits; used < end; used++)
    text += alphabet.charAt((pool[used] as number) % 32);
  return text;
};
