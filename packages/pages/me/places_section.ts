/** The part of /me about places: the addresses and browsers in which a user confirmed links. */
import type { Places } from "@accountlink/core/alts";
import type { OwnAddress, OwnCommunity, OwnPlace } from "@accountlink/core/users";
import { formTo, type Html, html, section } from "../html.ts";
import { code, own } from "../languages/language.ts";
import { listOf, longDay, said } from "../said.ts";

/** The addresses or browsers at which a user was seen, and the form to forget them; null if there are none. */
export const placesHtml = (
  places: Places,
  seen: ReadonlyArray<readonly [name: Html, dates: Html]>,
): Html | null =>
  seen.length === 0
    ? null
    : section(said(`me.${places}`))`
<p>${said(`me.${places}.text`)}</p>
<ul class="pair" role="list">${seen.map(
        ([name, dates]) => html`
<li>
<h3>${name}</h3>
<p class="aside">${dates}</p>
</li>`,
      )}</ul>
${formTo(`/me/${places}/forget`)`<button class="button quiet">${said(`me.${places}.forget`, { count: seen.length })}</button>`}`;

export const addressText = (address: OwnAddress) =>
  [
    address.ip === null ? said("me.address.unreadable") : code(address.ip),
    said("me.address.dates", datesOf(address)),
  ] as const;

export const browserText = (browser: OwnPlace, index: number) =>
  [said("me.browser", { number: index + 1 }), usedHtml(browser)] as const;

const usedHtml = (browser: OwnPlace): Html => {
  const { firstSeenAt, lastSeenAt } = browser;
  const dates = datesOf(browser);
  return firstSeenAt === null || firstSeenAt === lastSeenAt
    ? said("me.browser.once", dates)
    : said("me.browser.dates", { ...dates, first: longDay(firstSeenAt) });
};

const datesOf = ({ communities, hasMore, lastSeenAt, keptUntil }: OwnPlace) => ({
  communities: listOf([...communities.map(communityHtml), ...(hasMore ? [own("…")] : [])]),
  last: longDay(lastSeenAt),
  until: longDay(keptUntil),
});

export const guildHtml = (id: string, name: string | null): Html =>
  own(name ?? said("community.unnamed", { id }));

/** The name of a link's guild, or the name of its community if the link belongs to no guild. */
export const communityHtml = ({ guild, asking }: Pick<OwnCommunity, "guild" | "asking">): Html =>
  guild === null ? own(asking) : guildHtml(guild.id, guild.name);
