import { formatTimestamp, type Millis } from "@accountlink/core/timestamp";
import type {
  ErasurePreview,
  OwnAddress,
  OwnCommunity,
  OwnLink,
  OwnPlace,
  UserErased,
} from "@accountlink/core/users";
import { type AccountCard, cardHtml, gameCard } from "../account_card.ts";
import { type Html, html } from "../html.ts";
import type { Page } from "../page.ts";
import type { PageSettingsShape } from "../page_settings.ts";
import { dropKeptPages } from "../sign_ins/kept_pages.ts";

/** The value of the form field `confirm` that confirms an erasure. */
export const confirmation = "erase";

export interface OwnData {
  readonly user: AccountCard;
  readonly links: ReadonlyArray<OwnLink>;
  readonly addresses: ReadonlyArray<OwnAddress>;
  readonly browsers: ReadonlyArray<OwnPlace>;
}

/** Shows the stored data of a user: addresses, browsers, and links, each of which has a form to remove the link. */
export const dataPage = (
  { user, links, addresses, browsers }: OwnData,
  { chatName, gameName }: PageSettingsShape,
  csrf: string,
): Page => ({
  status: 200,
  title: "Your data",
  pictures: [user, ...links.map(cardOf)].flatMap(({ picture }) => picture ?? []),
  content: html`
<h1>Your data</h1>
<p class="who">You are signed in to ${chatName} as</p>
${cardHtml(user)}
<section>
<h2>Links</h2>
${
  links.length === 0
    ? html`<p class="empty">No community has a link of this account to one on ${gameName}. To link them, open the link or enter <a href="/go">the code</a> that a community gives you.</p>`
    : html`
<p>${
        links.length === 1 ? "One community knows" : `${links.length} communities know`
      } which account on ${gameName} is yours.</p>
<ul class="pair" role="list">${links.map((link) => linkItem(link, csrf))}</ul>`
}
</section>
${addresses.length === 0 ? null : addressesHtml(addresses)}
${browsers.length === 0 ? null : browsersHtml(browsers, csrf)}
<section>
<h2>Everything</h2>
<p>The file has all that is stored about you: the above, your sign-ins, what moderators noted about you, your place in teams, and the entries of logs that name you.</p>
<p><a class="button quiet" href="/me/export">Download your data</a></p>
<p class="aside"><a class="bad" href="/me/erase">Erase all your data</a></p>
</section>
${signOutForm(csrf)}`,
});

const linkItem = (link: OwnLink, csrf: string): Html => html`
<li>
<h3>${communityOf(link)}</h3>
${cardHtml(cardOf(link))}
<p class="aside">Linked since ${dayHtml(link.linkedAt)}, last verified on ${dayHtml(link.lastVerifiedAt)}.</p>
<details>
<summary class="bad">Remove<span class="unseen"> the link in ${communityOf(link)}</span></summary>
<p>${communityOf(link)} then no longer knows that this account is yours. You can verify again at any time.</p>
<form method="post" action="/me/remove">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="pid" value="${link.pid}">
<button class="button bad">Remove the link</button>
</form>
</details>
</li>`;

const addressesHtml = (addresses: ReadonlyArray<OwnAddress>): Html => html`
<section>
<h2>Internet addresses</h2>
<p>The addresses from which you confirmed are kept to find other accounts of the same person. They are stored encrypted, and no community sees them.</p>
<ul class="pair" role="list">${addresses.map(
  (address) => html`
<li>
<h3>${address.ip ?? "An address that can no longer be decrypted"}</h3>
<p class="aside">Confirmed for ${namesOf(address)}, last on ${dayHtml(address.lastSeenAt)}. Kept until ${dayHtml(address.keptUntil)}.</p>
</li>`,
)}</ul>
</section>`;

const browsersHtml = (browsers: ReadonlyArray<OwnPlace>, csrf: string): Html => html`
<section>
<h2>Browsers</h2>
<p>The browsers in which you confirmed are remembered to find other accounts of the same person.</p>
<ul class="pair" role="list">${browsers.map(
  (browser, index) => html`
<li>
<h3>Browser ${index + 1}</h3>
<p class="aside">Confirmed for ${namesOf(browser)}. ${usedHtml(browser)} Remembered until ${dayHtml(browser.keptUntil)}.</p>
</li>`,
)}</ul>
<form method="post" action="/me/browsers/forget">
<input type="hidden" name="csrf" value="${csrf}"><button class="button quiet">Forget ${browsers.length === 1 ? "this browser" : "these browsers"}</button>
</form>
</section>`;

const usedHtml = ({ firstSeenAt, lastSeenAt }: OwnPlace): Html =>
  firstSeenAt === null || firstSeenAt === lastSeenAt
    ? html`Used on ${dayHtml(lastSeenAt)}.`
    : html`First used on ${dayHtml(firstSeenAt)}, last on ${dayHtml(lastSeenAt)}.`;

const namesOf = ({ communities }: OwnPlace): string => communities.map(communityOf).join(", ");

const backToData = html`<p><a class="button" href="/me">Back to your data</a></p>`;

export const removedPage = (link: OwnLink): Page => ({
  status: 200,
  title: "The link is removed",
  pictures: [cardOf(link)].flatMap(({ picture }) => picture ?? []),
  content: html`
<p class="sign good" aria-hidden="true">✓</p>
<h1>The link is removed</h1>
<p>${communityOf(link)} no longer knows that this account is yours:</p>
${cardHtml(cardOf(link))}
${backToData}`,
});

export const forgottenPage: Page = {
  status: 200,
  title: "Your browsers are forgotten",
  content: html`
<p class="sign good" aria-hidden="true">✓</p>
<h1>Your browsers are forgotten</h1>
<p>No community knows which browsers you confirmed in. The next time you confirm, that browser is remembered.</p>
${backToData}`,
};

export const notLinkedPage: Page = {
  status: 404,
  title: "There is no such link",
  content: html`
<h1>There is no such link</h1>
<p>It was already removed, by you or by the community.</p>
${backToData}`,
};

export const erasePage = (user: AccountCard, { keys, records }: ErasurePreview, csrf: string): Page => ({
  status: 200,
  title: "Erase everything?",
  pictures: [user].flatMap(({ picture }) => picture ?? []),
  content: html`
<h1>Erase everything?</h1>
${cardHtml(user)}
<p>This removes ${records === 0 ? "all that is stored about you" : `you from ${counted(records, "community", "communities")}`}: your links, the IP addresses and browsers that were remembered when you verified, and the notes of moderators about you. In the audit log, your IDs are replaced by “[erased]”.</p>
${
  keys.length === 0
    ? null
    : html`<p><strong>You also own ${counted(keys.length, "API key", "API keys")} here.</strong> They stop working at once, and you can no longer manage their data.</p>`
}
<p>This cannot be undone.</p>
<form method="post" action="/me/erase">
<input type="hidden" name="csrf" value="${csrf}">
<label class="choice"><input type="checkbox" name="confirm" value="${confirmation}" required> I want all of this to be erased.</label>
<button class="button bad">Erase everything</button>
</form>
<p class="aside"><a href="/me">Keep everything</a></p>`,
});

export const unconfirmedPage: Page = {
  status: 400,
  title: "Nothing was erased",
  content: html`
<h1>Nothing was erased</h1>
<p>Tick the box first to confirm that you are sure.</p>
<p><a class="button" href="/me/erase">Go back</a></p>`,
};

export const erasedPage = ({ records, sightings, browsers, reviews, revokedKeys }: UserErased): Page => {
  const erased = [
    records > 0 && counted(records, "record of a link", "records of links"),
    sightings > 0 && counted(sightings, "IP address", "IP addresses"),
    browsers > 0 && counted(browsers, "remembered browser", "remembered browsers"),
    reviews > 0 && counted(reviews, "note of a moderator", "notes of moderators"),
    revokedKeys.length > 0 &&
      `${counted(revokedKeys.length, "API key", "API keys")}, which no longer ${revokedKeys.length === 1 ? "works" : "work"}`,
  ].filter((line) => line !== false);
  return {
    status: 200,
    title: "Everything is erased",
    content: html`
${dropKeptPages({ path: "/me" })}
<p class="sign good" aria-hidden="true">✓</p>
<h1>Everything is erased</h1>
${erased.length === 0 ? html`<p>Nothing was stored about you.</p>` : html`<ul>${erased.map((line) => html`<li>${line}</li>`)}</ul>`}
<p>You are signed out, and can close this page.</p>`,
  };
};

const signOutForm = (csrf: string): Html => html`
<form method="post" action="/me/sign-out">
<input type="hidden" name="csrf" value="${csrf}"><button class="button quiet">Sign out</button>
</form>`;

const cardOf = ({ game }: OwnLink): AccountCard => gameCard(game);

/** Returns the name of a link's guild, or the name of its community if the link belongs to no guild. */
const communityOf = ({ guild, asking }: OwnCommunity): string =>
  guild === null ? asking : (guild.name ?? `Community ${guild.id}`);

const dayHtml = (time: Millis): Html => {
  const day = formatTimestamp(time).slice(0, 10);
  return html`<time datetime="${day}">${day}</time>`;
};

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
