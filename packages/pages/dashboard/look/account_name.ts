import type { Webhook } from "@accountlink/core/webhooks";

const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

/** Writes an account as "Ada (100001)". If the name is written from right to left, a mark keeps the ID behind it. */
export const withId = (name: string, id: string): string =>
  `${name}${rightToLeft.test(name) ? "\u200E" : ""} (${id})`;

interface Named {
  readonly displayName: string | null;
  readonly username: string | null;
}

/** The display name or user name of an account; null if unknown or invisible, because a link needs visible text. */
export const visibleName = (profile: Named | null | undefined): string | null =>
  [profile?.displayName, profile?.username].find((name) => isVisible(name ?? "")) ?? null;

/** Some letters, such as the Hangul fillers, are blank. */
const isVisible = (name: string): boolean => /[^\s\p{C}\p{M}\u115F\u1160\u2800\u3164\uFFA0]/u.test(name);

/** The name of a webhook for its owner: its description, or the host of its URL. */
export const webhookName = ({ description, url }: Pick<Webhook, "description" | "url">): string =>
  description === "" ? new URL(url).host : description;

/** The names of accounts on the platforms, by ID. Accounts without a name are left out. */
export interface AccountNames {
  readonly chats: ReadonlyMap<string, string>;
  readonly games: ReadonlyMap<string, string>;
}

/** @param unnamed what the page says of an account without a name */
export const nameIn = (names: ReadonlyMap<string, string>, id: string, unnamed = id): string => {
  const name = names.get(id);
  return name === undefined ? unnamed : withId(name, id);
};
