import type { Places } from "@accountlink/core/alts";
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
import { type AccountCard, cardHtml, gameCard } from "../account_card.ts";
import { formTo, type Html, html, section, to } from "../html.ts";
import { bold, type Language, own, unseen } from "../languages/language.ts";
import type { Page } from "../page.ts";
import type { Reader } from "../page_render.ts";
import { isByOwner, proofText } from "../proof_text.ts";
import { dropKeptPages } from "../sign_ins/site.ts";
import { knownSection, type OwnOffers, offeredCards } from "./known_page.ts";
import { addressText, browserText, communityHtml, nameOf, placesHtml } from "./places_section.ts";

/** The value of the form field `confirm` that confirms an erasure. */
export const confirmation = "erase";

export interface OwnData {
  readonly user: AccountCard;
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
export const dataPage = (data: OwnData, reader: Reader): Page => {
  const { user, links, known, addresses, browsers } = data;
  const { language, chatName } = reader;
  return {
    title: language.text("me.title"),
    pictures: [
      user,
      ...links.map(({ game }) => gameCard(game, language)),
      ...offeredCards(known, reader),
    ].flatMap(({ picture }) => picture ?? []),
    content: html`
<h1>${language.text("me.title")}</h1>
<p class="who">${language.text("me.signed_in", { chatName })}</p>
${cardHtml(user)}
${linksHtml(data, reader)}
${knownSection(known, (community) => nameOf(community, language), reader)}
${placesHtml(
  "addresses",
  addresses.map((address) => addressText(address, language)),
  language,
)}
${placesHtml(
  "browsers",
  browsers.map((browser, index) => browserText(browser, index, language)),
  language,
)}
${section(language.text("me.everything"))`
<p>${language.text("me.everything.text")}</p>
${formTo("/me/export")`<button class="button quiet">${language.text("me.download")}</button>`}
<p class="aside"><a class="bad" href="${to("/me/erase")}">${language.text("me.erase")}</a></p>`}
${formTo("/me/sign-out")`<button class="button quiet">${language.text("sign_in.end")}</button>`}`,
  };
};

const linksHtml = ({ links, lost, count, from }: OwnData, reader: Reader): Html => {
  const { language, gameName } = reader;
  return section(language.text("me.links"))`
${
  count === 0
    ? html`<p class="empty">${language.html("me.links.none", { gameName, code: (label) => html`<a href="${to("/go")}">${label}</a>` })}</p>`
    : html`
<p>${language.text("me.links.known", { count, gameName })}</p>
<ul class="pair" role="list">${links.map((link) =>
        linkItem(
          link,
          lost.filter(({ pid }) => pid === link.pid),
          reader,
        ),
      )}</ul>
${from !== 0 && html`<p><a href="${to("/me")}">${language.text("me.back")}</a></p>`}
${
  from + links.length < count &&
  html`<p><a href="${to(`/me?from=${from + links.length}`)}">${language.text("me.links.older")}</a></p>`
}`
}`;
};

/** What the bot takes back without a link: in each community the names of roles, and the nickname. */
const lostHtml = (lost: ReadonlyArray<LostInGuild>, language: Language): ReadonlyArray<Html> =>
  lost.map(({ guildId, guildName, lost: things }) => {
    const guild = own(guildName ?? language.text("community.unnamed", { id: guildId }));
    if (things === null) return html`<p>${language.html("me.lost.unknown", { guild })}</p>`;
    const names = [...things.roles, ...(things.nickname ? [language.text("me.lost.nickname")] : [])];
    return html`<p>${language.html("me.lost", { guild, things: language.list(names) })}</p>`;
  });

const linkItem = (link: OwnLink, lost: ReadonlyArray<LostInGuild>, reader: Reader): Html => {
  const { language } = reader;
  const { proof } = link;
  const community = communityHtml(link, language);
  const since = language.day(link.linkedAt);
  const dates = isByOwner(proof)
    ? language.html("me.link.dates", { since, verified: language.day(link.lastVerifiedAt) })
    : language.html("me.link.since", { since });
  return html`
<li>
<h3>${community}</h3>
${cardHtml(gameCard(link.game, language))}
<p class="aside">${language.sentences([dates, proofText(proof, language, reader)])}</p>
<details>
<summary class="bad">${language.html("me.link.remove", { community, unseen })}</summary>
${lostHtml(lost, language)}
<p>${language.text("me.link.remove.text")}</p>
${formTo("/me/remove", { pid: link.pid })`
<button class="button bad">${language.text("me.link.remove.button")}</button>`}
</details>
</li>`;
};

/** A page about what has been done, with a way back. */
const answerPage = (
  language: Language,
  status: 200 | 400 | 404,
  name: "me.removed" | `me.${Places}.forgotten` | "me.not_linked" | "erase.unconfirmed",
  text: Html | string,
  [back, label]: readonly [string, "me.back" | "erase.unconfirmed.back"] = ["/me", "me.back"],
): Page => ({
  status,
  title: language.text(`${name}.title`),
  address: back,
  content: html`
${status === 200 ? html`<p class="sign good" aria-hidden="true">✓</p>` : null}
<h1>${language.text(`${name}.title`)}</h1>
${typeof text === "string" ? html`<p>${text}</p>` : text}
<p><a class="button" href="${to(back)}">${language.text(label)}</a></p>`,
});

export const removedPage = (link: OwnLink, language: Language): Page => {
  const card = gameCard(link.game, language);
  const text = html`
<p>${language.html("me.removed.text", { community: communityHtml(link, language) })}</p>
${cardHtml(card)}
<p>${language.text("me.removed.kept")}</p>`;
  return {
    ...answerPage(language, 200, "me.removed", text),
    pictures: card.picture === null ? [] : [card.picture],
  };
};

export const forgottenPage = (places: Places, language: Language): Page =>
  answerPage(language, 200, `me.${places}.forgotten`, language.text(`me.${places}.forgotten.text`));

export const notLinkedPage = (language: Language): Page =>
  answerPage(language, 404, "me.not_linked", language.text("me.not_linked.text"));

/** Asks before the download, so that a link from elsewhere cannot start one. */
export const exportPage = (language: Language): Page => ({
  title: language.text("me.download"),
  content: html`
<h1>${language.text("me.download")}</h1>
${formTo("/me/export")`<button class="button">${language.text("me.download")}</button>`}
<p class="aside"><a href="${to("/me")}">${language.text("me.back")}</a></p>`,
});

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
  user: AccountCard,
  { accounts, records, lost, staysSuspended, staysBlocked }: DataToErase,
  language: Language,
): Page => ({
  title: language.text("erase.title"),
  pictures: [user].flatMap(({ picture }) => picture ?? []),
  content: html`
<h1>${language.text("erase.title")}</h1>
${cardHtml(user)}
<p>${language.text("erase.text", { communities: records })}</p>
${lostHtml(lost, language)}
${
  accounts.length > 0 &&
  section(language.text("erase.accounts"))`
<ul class="pair" role="list">${accounts.map((account) => accountItem(account, language))}</ul>`
}
${staysSuspended ? html`<p>${language.text("erase.suspended")}</p>` : null}
${staysBlocked ? html`<p>${language.text("erase.blocked")}</p>` : null}
<p>${language.text("erase.final")}</p>
${formTo("/me/erase")`
<label class="choice"><input type="checkbox" name="confirm" value="${confirmation}" required> ${language.text("erase.agree")}</label>
<button class="button bad">${language.text("erase.button")}</button>`}
<p class="aside"><a href="${to("/me")}">${language.text("erase.keep")}</a></p>`,
});

const accountItem = (account: AccountToErase, language: Language): Html => {
  const { name, owner, role, isOwn, closes, links, keys, members } = account;
  const title =
    name === null
      ? owner === null
        ? language.text("erase.account.own")
        : language.html("erase.account.of", { name: own(owner) })
      : own(name);
  return html`
<li>
<h3>${title}</h3>
<p>${language.sentences([
    language.text(isOwn ? "erase.account.nameless" : "erase.account.leave"),
    keys.length === 0 ? null : language.html("erase.account.keys", { count: keys.length, b: bold }),
    closes ? language.text("erase.account.closes") : null,
  ])}</p>
<p>${language.sentences([
    members.length === 0
      ? language.text("erase.account.nobody")
      : language.html("erase.account.left", { names: language.list(members) }),
    closes && role === "owner" && members.length > 0
      ? language.html("erase.account.hand_over", {
          page: (label) => html`<a href="${to("/dashboard/team")}">${label}</a>`,
        })
      : null,
    links === 0
      ? null
      : language.text(links < mostCounted ? "erase.account.links" : "erase.account.many", { count: links }),
  ])}</p>
${
  closes && role === "owner" && links > 0
    ? html`<p>${language.html("erase.account.delete", {
        page: (label) => html`<a href="${to("/dashboard/account/delete")}">${label}</a>`,
      })}</p>`
    : null
}
</li>`;
};

export const unconfirmedPage = (language: Language): Page => {
  const text = language.text("erase.unconfirmed.text");
  return answerPage(language, 400, "erase.unconfirmed", text, ["/me/erase", "erase.unconfirmed.back"]);
};

export const erasedPage = (
  { records, sightings, browsers, reviews, messages, revokedKeys }: UserErased,
  language: Language,
): Page => {
  const counts = { records, addresses: sightings, browsers, reviews, keys: revokedKeys.length };
  const erased = Struct.keys(counts)
    .filter((name) => counts[name] > 0)
    .map((name) => html`<li>${language.text(`erase.done.${name}`, { count: counts[name] })}</li>`);
  return {
    title: language.text("erase.done.title"),
    content: html`
${dropKeptPages({ path: "/me" })}
<p class="sign good" aria-hidden="true">✓</p>
<h1>${language.text("erase.done.title")}</h1>
${erased.length === 0 ? html`<p>${language.text("erase.done.none")}</p>` : html`<ul>${erased}</ul>`}
${messages > 0 && html`<p>${language.text("erase.done.messages")}</p>`}
<p>${language.text("erase.done.close")}</p>`,
  };
};
