/** The part of a user's own page with communities that can have an account which the user has proven before. */
import type { KnownOffer, KnownOffers } from "@accountlink/core/flow";
import { type AccountCard, cardHtml, gameCard } from "../account_card.ts";
import { formTo, type Html, html, section, to } from "../html.ts";
import { own } from "../languages/language.ts";
import type { Reader } from "../page_render.ts";

/** The known accounts of a user; `isAsked` says whether the platform was asked for the user's communities. */
export interface OwnOffers extends KnownOffers {
  readonly isAsked: boolean;
}

export const offeredCards = ({ offers }: OwnOffers, { language }: Reader): ReadonlyArray<AccountCard> =>
  offers.flatMap(({ accounts }) => accounts.map((account) => gameCard(account, language)));

/** Null for a user without an account that a community could be offered. */
export const knownSection = (
  { offers, hasProven, isAsked }: OwnOffers,
  nameOf: (community: KnownOffer) => string,
  reader: Reader,
): Html | null => {
  const { language, chatName } = reader;
  if (!hasProven) return null;
  return section(language.text("me.known"))`
${
  offers.length > 0
    ? html`
<p>${language.text("me.known.text")}</p>
<ul class="pair" role="list">${offers.map((offer) => offerItem(offer, nameOf(offer), reader))}</ul>`
    : isAsked
      ? html`<p class="empty">${language.text("me.known.none")}</p>`
      : null
}
${
  !isAsked &&
  html`
<p class="aside">${language.text("me.known.find.text", { chatName })}</p>
<p><a class="button quiet" href="${to("/me/sign-in?communities=1")}">${language.text("me.known.find")}</a></p>`
}`;
};

const offerItem = ({ pid, guildId, accounts }: KnownOffer, name: string, reader: Reader): Html => {
  const { language } = reader;
  return html`
<li>
<h3>${own(name)}</h3>
${accounts.map((account) => {
  const card = gameCard(account, language);
  return html`
${cardHtml(card)}
<p class="aside">${language.text(`proof.${account.proof}`, reader)} ${language.day(account.provenAt)}</p>
${formTo("/me/link", { in: pid, guildId: guildId ?? "" })`
<button class="button" name="gameId" value="${account.id}"><span>${language.html("flow.connection.use", { account: own(card.name) })}</span></button>`}`;
})}
</li>`;
};
