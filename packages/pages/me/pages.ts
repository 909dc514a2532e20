import type { Places } from "@accountlink/core/alts";
import type { FlowView, KnownOffer, KnownOffers } from "@accountlink/core/flow";
import { isByOwner } from "@accountlink/core/links";
import type { LostInGuild } from "@accountlink/core/roles";
import {
  type ErasedAccount,
  type ErasurePreview,
  mostCounted,
  type OwnAddress,
  type OwnLink,
  type OwnPlace,
  type UserErased,
} from "@accountlink/core/users";
import { Struct } from "effect";
import { accountName, cardHtml, picturesOf } from "../account_card.ts";
import { formTo, type Html, html, section, to } from "../html.ts";
import { own } from "../languages/language.ts";
import type { Page } from "../page.ts";
import { linkTo, listOf, longDay, said, sentences, tags } from "../said.ts";
import { dropKeptPages } from "../sign_ins/site.ts";
import { addressText, browserText, communityHtml, guildHtml, placesHtml } from "./places_section.ts";

type ChatAccount = NonNullable<FlowView["chat"]>;

/** The value of the form field `confirm` that confirms an erasure. */
export const confirmation = "erase";

export interface OwnData {
  readonly user: ChatAccount;
  readonly links: ReadonlyArray<OwnLink>;
  readonly lost: ReadonlyArray<LostInGuild>;
  readonly count: number;
  /** How many of them are before the page. */
  readonly from: number;
  readonly known: OwnOffers;
  readonly addresses: ReadonlyArray<OwnAddress>;
  readonly browsers: ReadonlyArray<OwnPlace>;
}

/** Shows the stored data of a user: addresses, browsers, and links, each of which has a form to remove the link. */
export const dataPage = (data: OwnData): Page => {
  const { user, links, known, addresses, browsers } = data;
  const title = said("me.title");
  return {
    title,
    pictures: [
      ...picturesOf([user, ...links.map(({ game }) => game)]),
      ...known.offers.flatMap(({ accounts }) => picturesOf(accounts)),
    ],
    content: html`
<h1>${title}</h1>
<p class="who">${said("me.signed_in")}</p>
${cardHtml(user)}
${linksHtml(data)}
${knownSection(known)}
${placesHtml("addresses", addresses.map(addressText))}
${placesHtml("browsers", browsers.map(browserText))}
${section(said("me.everything"))`
<p>${said("me.everything.text")}</p>
${formTo("/me/export")`<button class="button quiet">${said("me.download")}</button>`}
<p class="aside"><a class="bad" href="${to("/me/erase")}">${said("me.erase")}</a></p>`}
${formTo("/me/sign-out")`<button class="button quiet">${said("sign_in.end")}</button>`}`,
  };
};

const linksHtml = ({ links, lost, count, from }: OwnData): Html => section(said("me.links"))`
${
  count === 0
    ? html`<p class="empty">${said("me.links.none", { code: linkTo("/go") })}</p>`
    : html`
<p>${said("me.links.known", { count })}</p>
<ul class="pair" role="list">${links.map((link) =>
        linkItem(
          link,
          lost.filter(({ pid }) => pid === link.pid),
        ),
      )}</ul>
${from !== 0 && html`<p><a href="${to("/me")}">${said("me.back")}</a></p>`}
${
  from + links.length < count &&
  html`<p><a href="${to(`/me?from=${from + links.length}`)}">${said("me.links.older")}</a></p>`
}`
}`;

/** What the bot takes back without a link: in each community the names of roles, and the nickname. */
const lostHtml = (lost: ReadonlyArray<LostInGuild>): ReadonlyArray<Html> =>
  lost.map(({ guildId, guildName, lost: things }) => {
    const guild = guildHtml(guildId, guildName);
    if (things === null) return html`<p>${said("me.lost.unknown", { guild })}</p>`;
    const nickname = things.nickname ? [own(said("me.lost.nickname"))] : [];
    return html`<p>${said("me.lost", { guild, things: listOf([...things.roles.map(own), ...nickname]) })}</p>`;
  });

const linkItem = (link: OwnLink, lost: ReadonlyArray<LostInGuild>): Html => {
  const { proof } = link;
  const community = communityHtml(link);
  const since = longDay(link.linkedAt);
  const dates = isByOwner(proof)
    ? said("me.link.dates", { since, verified: longDay(link.lastVerifiedAt) })
    : said("me.link.since", { since });
  return html`
<li>
<h3>${community}</h3>
${cardHtml(link.game)}
<p class="aside">${sentences([dates, proof && said(`proof.${proof}`)])}</p>
<details>
<summary class="bad">${said("me.link.remove", { community, unseen: tags.unseen })}</summary>
${lostHtml(lost)}
<p>${said("me.link.remove.text")}</p>
${formTo("/me/remove", { pid: link.pid, seen: link.game.id })`
<button class="button bad">${said("me.link.remove.button")}</button>`}
</details>
</li>`;
};

/** A page about what has been done, with a way back. */
const answerPage = (
  status: 200 | 400 | 404,
  name: "me.removed" | `me.${Places}.forgotten` | "me.not_linked" | "erase.unconfirmed",
  text: Html,
  [back, label]: readonly [string, "me.back" | "erase.unconfirmed.back"] = ["/me", "me.back"],
): Page => ({
  status,
  title: said(`${name}.title`),
  address: back,
  content: html`
${status === 200 ? html`<p class="sign good" aria-hidden="true">✓</p>` : null}
<h1>${said(`${name}.title`)}</h1>
${text}
<p><a class="button" href="${to(back)}">${said(label)}</a></p>`,
});

/** @param hasPlaces whether addresses or browsers of the user are stored */
export const removedPage = (link: OwnLink, hasPlaces: boolean): Page => {
  const text = html`
<p>${said("me.removed.text", { community: communityHtml(link) })}</p>
${cardHtml(link.game)}
<p>${sentences([hasPlaces ? said("me.removed.places") : null, said("me.removed.kept")])}</p>`;
  return { ...answerPage(200, "me.removed", text), pictures: picturesOf([link.game]) };
};

export const forgottenPage = (places: Places): Page =>
  answerPage(200, `me.${places}.forgotten`, html`<p>${said(`me.${places}.forgotten.text`)}</p>`);

export const notLinkedPage: Page = answerPage(
  404,
  "me.not_linked",
  html`<p>${said("me.not_linked.text")}</p>`,
);

export const unconfirmedPage: Page = answerPage(
  400,
  "erase.unconfirmed",
  html`<p>${said("erase.unconfirmed.text")}</p>`,
  ["/me/erase", "erase.unconfirmed.back"],
);

/** Asks before the download, so that a link from elsewhere cannot start one. */
export const exportPage: Page = {
  title: said("me.download"),
  content: html`
<h1>${said("me.download")}</h1>
${formTo("/me/export")`<button class="button">${said("me.download")}</button>`}
<p class="aside"><a href="${to("/me")}">${said("me.back")}</a></p>`,
};

export interface AccountToErase extends ErasedAccount {
  /** The name that people gave the account; null if it has none. */
  readonly name: string | null;
  /** The name of the user whose account it is; null for the signed-in user's own. */
  readonly owner: string | null;
  readonly members: ReadonlyArray<string>;
}

type DataToErase = Pick<ErasurePreview, "records" | "staysSuspended" | "staysBlocked"> & {
  readonly lost: ReadonlyArray<LostInGuild>;
  readonly accounts: ReadonlyArray<AccountToErase>;
};

export const erasePage = (
  user: ChatAccount,
  { accounts, records, lost, staysSuspended, staysBlocked }: DataToErase,
): Page => ({
  title: said("erase.title"),
  pictures: picturesOf([user]),
  content: html`
<h1>${said("erase.title")}</h1>
${cardHtml(user)}
<p>${said("erase.text", { communities: records })}</p>
${lostHtml(lost)}
${
  accounts.length > 0 &&
  section(said("erase.accounts"))`
<ul class="pair" role="list">${accounts.map(accountItem)}</ul>`
}
${staysSuspended ? html`<p>${said("erase.suspended")}</p>` : null}
${staysBlocked ? html`<p>${said("erase.blocked")}</p>` : null}
<p>${said("erase.final")}</p>
${formTo("/me/erase")`
<label class="choice"><input type="checkbox" name="confirm" value="${confirmation}" required> ${said("erase.agree")}</label>
<button class="button bad">${said("erase.button")}</button>`}
<p class="aside"><a href="${to("/me")}">${said("erase.keep")}</a></p>`,
});

const accountItem = (account: AccountToErase): Html => {
  const { name, owner, role, isOwn, closes, links, keys, members } = account;
  const unnamed = owner === null ? said("erase.account.own") : said("erase.account.of", { name: own(owner) });
  return html`
<li>
<h3>${name === null ? unnamed : own(name)}</h3>
<p>${sentences([
    said(isOwn ? "erase.account.nameless" : "erase.account.leave"),
    keys.length === 0 ? null : said("erase.account.keys", { count: keys.length, b: tags.b }),
    closes ? said("erase.account.closes") : null,
  ])}</p>
<p>${sentences([
    members.length === 0
      ? said("erase.account.nobody")
      : said("erase.account.left", { names: listOf(members.map(own)) }),
    closes && role === "owner" && members.length > 0
      ? said("erase.account.hand_over", { page: linkTo("/dashboard/team") })
      : null,
    links === 0
      ? null
      : said(links < mostCounted ? "erase.account.links" : "erase.account.many", { count: links }),
  ])}</p>
${
  closes && role === "owner" && links > 0
    ? html`<p>${said("erase.account.delete", { page: linkTo("/dashboard/account/delete") })}</p>`
    : null
}
</li>`;
};

export const erasedPage = ({
  records,
  sightings,
  browsers,
  reviews,
  messages,
  revokedKeys,
}: UserErased): Page => {
  const counts = { records, addresses: sightings, browsers, reviews, keys: revokedKeys.length };
  const erased = Struct.keys(counts)
    .filter((name) => counts[name] > 0)
    .map((name) => html`<li>${said(`erase.done.${name}`, { count: counts[name] })}</li>`);
  return {
    title: said("erase.done.title"),
    content: html`
${dropKeptPages({ path: "/me" })}
<p class="sign good" aria-hidden="true">✓</p>
<h1>${said("erase.done.title")}</h1>
${erased.length === 0 ? html`<p>${said("erase.done.none")}</p>` : html`<ul>${erased}</ul>`}
${messages > 0 && html`<p>${said("erase.done.messages")}</p>`}
<p>${said("erase.done.close")}</p>`,
  };
};

/** The known accounts of a user; `isAsked` says whether the platform was asked for the user's communities. */
interface OwnOffers extends KnownOffers {
  readonly isAsked: boolean;
}

/**
 * The communities that can have an account which the user has proven before; null for a user without an account that a
 * community could be offered.
 */
const knownSection = ({ offers, hasProven, isAsked }: OwnOffers): Html | null =>
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
