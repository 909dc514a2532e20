/** The part of a user's own page with communities that can have an account which the user has proven before. */
import type { KnownOffer, KnownOffers } from "@accountlink/core/flow";
import { accountName, cardHtml } from "../account_card.ts";
import { formTo, type Html, html, section, to } from "../html.ts";
import { longDay, said } from "../said.ts";
import { communityHtml } from "./places_section.ts";

/** The known accounts of a user; `isAsked` says whether the platform was asked for the user's communities. */
export interface OwnOffers extends KnownOffers {
  readonly isAsked: boolean;
}

/** Null for a user without an account that a community could be offered. */
export const knownSection = ({ offers, hasProven, isAsked }: OwnOffers): Html | null =>
  hasProven
    ? section(said("me.known"))`
${
  offers.length > 0
    ? html`
<p>${said("me.known.text")}</p>
<ul class="pair" role="list">${offers.map(offerItem)}</ul>`
    : isAsked
      ? html`<p class="empty">${said("me.known.none")}</p>`
      : null
}
${
  !isAsked &&
  html`
<p class="aside">${said("me.known.find.text")}</p>
<p><a class="button quiet" href="${to("/me/sign-in?communities=1")}">${said("me.known.find")}</a></p>`
}`
    : null;

const offerItem = ({ pid, guildId, accounts, ...community }: KnownOffer): Html => html`
<li>
<h3>${communityHtml(community)}</h3>
${accounts.map(
  (account) => html`
${cardHtml(account)}
<p class="aside">${said(`proof.${account.proof}`)} ${longDay(account.provenAt)}</p>
${formTo("/me/link", { in: pid, guildId: guildId ?? "" })`
<button class="button" name="gameId" value="${account.id}"><span>${said("flow.connection.use", { account: accountName(account) })}</span></button>`}`,
)}
</li>`;
