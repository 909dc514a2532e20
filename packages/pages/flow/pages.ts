import type { FlowConfirmed, FlowEnded, FlowEntry, FlowView, ProofStep } from "@accountlink/core/flow";
import { dayMs } from "@accountlink/core/timestamp";
import { type AccountCard, cardHtml, chatCard, gameCard } from "../account_card.ts";
import { type Html, html } from "../html.ts";
import type { Page } from "../page.ts";
import type { PageSettingsShape } from "../page_settings.ts";

/** Returns the query of the `/verify` link that opens this session or scope. */
export const queryOf = (entry: FlowEntry): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(entry)) if (typeof value === "string") query.set(name, value);
  return query.toString();
};

/** Deployment settings that the pages mention. */
export interface PageTerms extends Pick<PageSettingsShape, "chatName" | "gameName"> {
  /** How long the service stores the IP addresses and browsers of users, in milliseconds; 0 if it stores none. */
  readonly sightingRetention: number;
}

/** The page of an unfinished flow: who asks, which accounts are proven, and the next step. */
export const flowPage = (view: FlowView, terms: PageTerms, now: number): Page => {
  const { redirect } = view;
  const { chat, game, replaced } = cardsOf(view);
  const isProven = chat !== null && game !== null;
  const { chatName, gameName } = terms;
  return {
    status: 200,
    title: titleOf(view),
    pictures: picturesOf([chat, game, replaced]),
    redirect,
    content: html`
<p class="asking"><strong>${view.asking}</strong> asks you${guildNote(view)}</p>
<h1>${titleOf(view)}</h1>
${
  chat !== null && game !== null && replaced !== null
    ? choice(view, terms, { chat, game, replaced })
    : html`
<p>${
        isProven
          ? html`Once you confirm, ${view.asking} knows that these two belong together.`
          : html`Show that an account on ${chatName} and one on ${gameName} are both yours. ${view.asking} then knows that they belong together.`
      }</p>
<ol class="steps" role="list">
${step(`Account on ${chatName}`, chat === null ? "current" : "done", proofStep("chat", chatName, chat, view))}
${step(`Account on ${gameName}`, stateOf(chat, game), chat && proofStep("game", gameName, game, view))}
${step("Confirm", isProven ? "current" : "later", isProven ? html`${keptSighting(terms)}${confirmForm(view, "Link these accounts")}` : null)}
</ol>
${view.sid !== null || chat !== null ? cancelForm(view, "Do not link anything") : null}`
}
${supportNote(view)}
<p class="aside">${redirect === null ? null : html`Afterwards, you continue to ${new URL(redirect).host}. `}You have ${timeLeft(view.expiresAt - now)} left.</p>`,
  };
};

const titleOf = ({ chat, game, replaces }: FlowView): string => {
  if (replaces !== null) return "Which account is yours?";
  return chat !== null && game !== null ? "Is this right?" : "Link your accounts";
};

const supportNote = ({ supportUrl }: FlowView): Html | null =>
  supportUrl === null
    ? null
    : html`<p class="aside"><a href="${supportUrl}" rel="noreferrer">Get help</a></p>`;

const cardsOf = ({ chat, game, replaces }: FlowView) => ({
  chat: chat && chatCard(chat),
  game: game && gameCard(game),
  replaced: replaces && gameCard(replaces),
});

/** The page after a confirmation, for users who are not redirected to another site. */
export const donePage = (
  { chat, game, linkChanged, kept, doneText, guildId }: Extract<FlowConfirmed, { readonly redirect: null }>,
  settings: PageSettingsShape,
): Page => {
  const cards = { [settings.chatName]: chatCard(chat), [settings.gameName]: gameCard(game) };
  const title = kept ? "Your link stays as it is" : "Your accounts are linked";
  return {
    status: 200,
    title,
    pictures: picturesOf(Object.values(cards)),
    content: html`
<p class="sign good" aria-hidden="true">✓</p>
<h1>${title}</h1>
<ul class="pair" role="list">${Object.entries(cards).map(([platform, card]) => html`<li><h2>${capitalised(platform)}</h2>${cardHtml(card)}</li>`)}</ul>
${doneText === null ? null : html`<p>${doneText}</p>`}
<p>${linkChanged || kept ? null : "They were already linked, and you have confirmed the link. "}You can close this page and go back to ${settings.chatName} or ${settings.gameName}.</p>
${wayBack(settings, guildId)}
<p class="aside"><a href="/me">See, download or remove what is stored about you</a></p>`,
  };
};

const capitalised = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

export const cancelledPage = ({ guildId, redirect }: FlowEnded, settings: PageSettingsShape): Page => ({
  status: 200,
  title: "Nothing was linked",
  content: html`
<h1>Nothing was linked</h1>
<p>The verification was cancelled, and nothing was saved. You can close this page. If you change your mind, start again where you got the link.</p>
${redirect === null ? wayBack(settings, guildId) : backButton(redirect, new URL(redirect).host)}`,
});

const wayBack = ({ chatName, chatHome }: PageSettingsShape, guildId: FlowEnded["guildId"]): Html | null =>
  chatHome && backButton(chatHome(guildId), chatName);

const backButton = (url: string, name: string): Html =>
  html`<p><a class="button" href="${url}">Go back to ${name}</a></p>`;

const picturesOf = (cards: ReadonlyArray<AccountCard | null>): ReadonlyArray<string> =>
  cards.flatMap((card) => card?.picture ?? []);

const guildNote = ({ guild, asking }: FlowView): Html | null =>
  guild === null || guild.name === asking
    ? null
    : html`, for the community ${guild.name === null ? `with the ID ${guild.id}` : html`<strong>${guild.name}</strong>`}`;

type StepState = "done" | "current" | "later";

const stateOf = (chat: AccountCard | null, game: AccountCard | null): StepState => {
  if (game !== null) return "done";
  return chat === null ? "later" : "current";
};

const step = (name: string, state: StepState, content: Html | null): Html => html`
<li class="${state}"${state === "current" ? html` aria-current="step"` : null}>
<h2>${name}${state === "done" ? html`<span class="unseen">: done</span>` : null}</h2>
${content}
</li>`;

const startPath = (proof: ProofStep, { entry }: FlowView): string =>
  `/verify/${proof}/start?${queryOf(entry)}`;

const proofStep = (proof: ProofStep, platform: string, proven: AccountCard | null, view: FlowView): Html =>
  proven === null
    ? html`<a class="button" href="${startPath(proof, view)}">Sign in to ${platform}</a>`
    : html`
${cardHtml(proven)}
<p class="other"><a href="${startPath(proof, view)}">Use another account on ${platform}</a></p>`;

/** Asks a user who already has another game account which of the two to link. Each account has a button. */
const choice = (
  view: FlowView,
  terms: PageTerms,
  { chat, game, replaced }: Readonly<Record<"chat" | "game" | "replaced", AccountCard>>,
): Html => html`
<p>${chat.name} on ${terms.chatName} can have one account on ${terms.gameName}.</p>
<ul class="choices" role="list">
<li><h2>Now</h2>${cardHtml(replaced)}${keepForm(view, `Keep ${replaced.name}`)}</li>
<li><h2>New</h2>${cardHtml(game)}${confirmForm(view, `Link ${game.name}`)}</li>
</ul>
${cancelForm(view, "Cancel")}
<p class="other"><a href="${startPath("chat", view)}">Use another account on ${terms.chatName}</a></p>
${keptSighting(terms)}`;

const confirmForm = (view: FlowView, label: string): Html =>
  form("/verify/confirm", view, html`<button class="button">${label}</button>`);

const keepForm = (view: FlowView, label: string): Html =>
  form("/verify/confirm", view, html`<button class="button quiet" name="keep" value="1">${label}</button>`);

const cancelForm = (view: FlowView, label: string): Html =>
  form("/verify/cancel", view, html`<button class="button quiet">${label}</button>`);

const form = (action: string, { csrf, sid }: FlowView, button: Html): Html => html`
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
${sid === null ? null : html`<input type="hidden" name="sid" value="${sid}">`}
${button}
</form>`;

/** Tells users that a confirmation stores their IP address and a cookie that recognizes their browser. */
const keptSighting = ({ sightingRetention }: PageTerms): Html | null => {
  if (sightingRetention === 0) return null;
  const days = Math.ceil(sightingRetention / dayMs);
  return html`<p class="kept">When you confirm, your encrypted IP address and a cookie that recognizes this browser are stored for ${days === 1 ? "1 day" : `${days} days`} to find other accounts of the same person.</p>`;
};

/** Rounds the time to minutes, because the page does not update the displayed time. */
const timeLeft = (milliseconds: number): string => {
  if (milliseconds < 60_000) return "less than a minute";
  const minutes = Math.round(milliseconds / 60_000);
  return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
};
