/** The limits that the chat platform sets for texts. It refuses every command if one text of one language exceeds them. */

const labels = new Set([
  "chat.verify.start",
  "chat.verify.roles",
  "chat.verify.other",
  "chat.verify.unlink",
  "chat.unlink.yes",
  "chat.whois.open",
  "chat.direct.open",
  "chat.no_home.open",
]);

/** The characters that the names and texts of people add to a message at most. */
const longestValue = 300;

const kinds = [
  { of: /^chat\.(?:command|option)\.\w+\.name$/, most: 32 },
  { of: /^chat\.command\.\w+\.menu$/, most: 32 },
  { of: /^chat\.(?:command|option)\.\w+\.description$/, most: 100 },
  { of: { test: (key: string) => labels.has(key) }, most: 80 },
  { of: /^chat\./, most: 2_000 },
] as const;

/** Returns how many characters a message may have, in UTF-16 as the chat platform counts them; null without a limit. */
export const limitOf = (key: string): number | null => kinds.find(({ of }) => of.test(key))?.most ?? null;

/** The characters of a typed command. It is in lower case. */
const commandName = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;

export const limitFault = (key: string, message: string): string | null => {
  const most = limitOf(key);
  if (most === null) return null;
  const length = message.length + (message.match(/\{\w+\}/g) ?? []).length * longestValue;
  if (length > most) return `has ${length} characters, expected at most ${most}`;
  if (!kinds[0].of.test(key)) return null;
  return commandName.test(message) &&
    message === message.toLowerCase() &&
    message === message.normalize("NFC")
    ? null
    : `"${message}" is not the name of a command: lower-case letters, digits, - and _`;
};
