/** The part of /me about places: the addresses and browsers in which a user confirmed links. */
import type { Places } from "@accountlink/core/alts";
import type { OwnAddress, OwnCommunity, OwnPlace } from "@accountlink/core/users";
import { formTo, type Html, html, section } from "../html.ts";
import { code, type Language, own } from "../languages/language.ts";

/** The addresses or browsers at which a user was seen, and the form to forget them; null if there are none. */
export const placesHtml = (
  places: Places,
  seen: ReadonlyArray<readonly [name: Html | string, dates: Html]>,
  language: Language,
): Html | null =>
  seen.length === 0
    ? null
    : section(language.text(`me.${places}`))`
<p>${language.text(`me.${places}.text`)}</p>
<ul class="pair" role="list">${seen.map(
        ([name, dates]) => html`
<li>
<h3>${name}</h3>
<p class="aside">${dates}</p>
</li>`,
      )}</ul>
${formTo(`/me/${places}/forget`)`<button class="button quiet">${language.text(`me.${places}.forget`, { count: seen.length })}</button>`}`;

export const addressText = (address: OwnAddress, language: Language) =>
  [
    address.ip === null ? language.text("me.address.unreadable") : code(address.ip),
    language.html("me.address.dates", datesOf(address, language)),
  ] as const;

export const browserText = (browser: OwnPlace, index: number, language: Language) =>
  [language.text("me.browser", { number: index + 1 }), usedHtml(browser, language)] as const;

const usedHtml = (browser: OwnPlace, language: Language): Html => {
  const { firstSeenAt, lastSeenAt } = browser;
  const dates = datesOf(browser, language);
  return firstSeenAt === null || firstSeenAt === lastSeenAt
    ? language.html("me.browser.once", dates)
    : language.html("me.browser.dates", { ...dates, first: language.day(firstSeenAt) });
};

const datesOf = ({ communities, hasMore, lastSeenAt, keptUntil }: OwnPlace, language: Language) => ({
  communities: language.list([
    ...communities.map((community) => nameOf(community, language)),
    ...(hasMore ? ["…"] : []),
  ]),
  last: language.day(lastSeenAt),
  until: language.day(keptUntil),
});

/** Returns the name of a link's guild, or the name of its community if the link belongs to no guild. */
export const nameOf = ({ guild, asking }: OwnCommunity, language: Language): string =>
  guild === null ? asking : (guild.name ?? language.text("community.unnamed", { id: guild.id }));

export const communityHtml = (community: OwnCommunity, language: Language): Html =>
  own(nameOf(community, language));
