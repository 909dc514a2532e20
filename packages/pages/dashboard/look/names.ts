/** Names of accounts, communities and lists of links, and the numbers of links. */
import { type GuildId, guildOf, type ScopeTarget } from "@accountlink/core";
import type { LinkCount } from "@accountlink/core/owners";
import type { Webhook } from "@accountlink/core/webhooks";
import { type Html, html } from "../../html.ts";
import { byPlatforms, platforms } from "../../said.ts";
import { saidOr } from "./reasons.ts";
import { say } from "./say.ts";
import { agoHtml, numberHtml } from "./time.ts";

export { byPlatforms, platforms } from "../../said.ts";

/** Says how a field names a user of a platform, or of either one for null. */
export const idOrName = (of: "chat" | "game" | null): Html =>
  byPlatforms(({ hasGameNames = false }) => {
    if (hasGameNames || of === "chat") return say("links.id_or_name");
    return of === "game"
      ? say("links.id_alone", { platform: platforms.game })
      : say("links.id_or_name_on", { platform: platforms.chat });
  });

const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

/** Writes an account as "Ada (100001)". If the name is written from right to left, a mark keeps the ID behind it. */
export const withId = (name: string, id: string): string =>
  `${name}${rightToLeft.test(name) ? "\u200E" : ""} (${id})`;

/** A user name such as "@ada", with the ID if given. It is read from left to right in every language. */
export const userNameHtml = (username: string | null, id: string | null = null): Html =>
  html`<bdi dir="ltr">${username === null ? null : `@${username}`}${username === null || id === null ? null : " · "}${id}</bdi>`;

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

/** Keys for all communities use the shared list. The list of one community has the name of the community. */
interface NamedList {
  readonly scope: ScopeTarget;
  /** The name on the chat platform; null if unknown. */
  readonly guildName: string | null;
}

export const communityName = ({ scope, guildName }: NamedList): string | Html => {
  const guildId = guildOf(scope);
  return guildId === null ? say("list.shared") : (guildName ?? say("list.community", { id: guildId }));
};

/** The name of a list in files and on pages that are in English in every language. */
export const englishListName = ({ scope, guildName }: NamedList): string => {
  const guildId = guildOf(scope);
  return guildId === null ? "Shared list" : (guildName ?? `Community ${guildId}`);
};

export const guildText = (guildId: GuildId, name: string | null | undefined): string | Html =>
  name ?? say("channels.unnamed", { id: guildId });

/** Returns the name of a list of links for use inside a sentence. */
export const listText = ({ scope, guildName }: NamedList): Html => {
  const guildId = guildOf(scope);
  return guildId === null ? say("list.shared_within") : html`${guildText(guildId, guildName)}`;
};

/** What the pages say of an error: in place of "guild", they say "community". */
export const messageText = ({
  reason,
  message,
}: {
  readonly reason?: string;
  readonly message: string;
}): Html => saidOr(`error.${reason}`, message.replace("guild", "community"));

export const errorSentence = (error: Parameters<typeof messageText>[0]): Html =>
  say("field.problem", { reason: messageText(error) });

export const sharedListHint = "One list of links for all of your communities";

/** From this age on, in milliseconds, the pages say how long ago a number of links was counted. */
const old = 120_000;

/** Formats a number of links. A plus follows the number, as in "2,000+", until the count is complete. */
export const countText = ({ count, age }: LinkCount): Html =>
  html`${numberHtml(count)}${age === null ? "+" : ""}`;

export const linksText = (links: LinkCount): Html =>
  say("list.links", { count: links.count, links: countText(links) });

/** Says how long ago links were counted, or that the count is incomplete; null for a recent count. */
export const countNote = ({ age }: LinkCount): Html | null => {
  if (age === null) return say("list.counting");
  return age < old ? null : say("list.counted", { ago: agoHtml(age) });
};
