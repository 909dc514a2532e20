/** ULIDs: 26 characters that sort by time. */

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const [timeDigits, randomDigits] = [10, 16];

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

const randomText = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(randomDigits)), (byte) => alphabet.charAt(byte % 32)).join(
    "",
  );
