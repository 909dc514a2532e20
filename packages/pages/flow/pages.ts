import type { FlowEnded, FlowLinked, FlowView } from "@accountlink/core/flow";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { accountName, cardHtml, picturesOf } from "../account_card.ts";
import { type Html, hiddenFields, html, to } from "../html.ts";
import { code, own } from "../languages/language.ts";
import { countdownPath, type Page } from "../page.ts";
import { byPlatforms, capitalised, platforms, said, sentences, tags } from "../said.ts";
import { flowPath, form } from "./flow_form.ts";
import {
  connectedAccounts,
  hasWay,
  knownAccounts,
  type OpenWay,
  openWays,
  wayNeeded,
  waysAhead,
} from "./game_ways.ts";

/**
 * The page of an unfinished flow: who asks, which accounts are proven, and the next step.
 *
 * @param kept how long the service stores the IP addresses and browsers of users, in milliseconds; 0 if it stores none
 */
export const flowPage = (view: FlowView, kept: Millis, now: Millis): Page => {
  const { chat, game, player, replaces, takenFrom, redirect, known, connections } = view;
  const title = said(titleOf(view));
  return {
    title,
    pictures: picturesOf([chat, game ?? player, replaces, takenFrom, ...known, ...connections]),
    redirect,
    csrf: view.csrf,
    content: html`
<p class="asking">${askingHtml(view)}</p>
<h1>${title}</h1>
${replaces === null ? steps(view, kept) : choice(view, replaces, kept)}
${supportNote(view)}
<p class="aside">${sentences([
      redirect === null ? null : said("flow.afterwards", { site: code(new URL(redirect).host) }),
      timeLeft(view.expiresAt, now),
    ])}</p>`,
  };
};

const titleOf = ({ chat, game, replaces }: FlowView) => {
  if (replaces !== null) return "flow.choice.title";
  return chat !== null && game !== null ? "flow.confirm.title" : "flow.link.title";
};

export const askingHtml = ({ asking, guild }: FlowView): Html => {
  const asks = { asking: own(asking), b: tags.b };
  if (guild === null || guild.name === asking) return said("flow.asks", asks);
  return guild.name === null
    ? said("flow.asks.guild_id", { ...asks, guildId: code(guild.id) })
    : said("flow.asks.guild", { ...asks, guild: own(guild.name) });
};

export const supportNote = ({ supportUrl }: Pick<FlowView, "supportUrl">): Html | null =>
  supportUrl === null
    ? null
    : html`<p class="aside"><a href="${to(supportUrl)}" rel="noreferrer">${said("flow.help")}</a></p>`;

const accountOn = (platform: Html): Html => capitalised(said("flow.step.account", { platform }));

/** The two sign-ins and the confirmation, the current step with its button. Shows the player that the session names. */
const steps = (view: FlowView, kept: Millis): Html => {
  const { chat, game, player, takenFrom } = view;
  const isProven = chat !== null && game !== null;
  const chatItem = step(accountOn(platforms.chat), chat === null ? "current" : "done", chatStep(view));
  const gameItem =
    player === null
      ? step(accountOn(platforms.game), stateOf(view), chat === null ? waysAhead(view) : gameStep(view))
      : step(accountOn(platforms.game), "done", cardHtml(game ?? player));
  return html`
<p>${introOf(view)}</p>
${playerNote(view)}
<ol class="steps" role="list">
${player === null ? [chatItem, gameItem] : [gameItem, chatItem]}
${step(
  said("flow.step.confirm"),
  isProven ? "current" : "later",
  isProven
    ? html`${takenNote(view)}${keptSighting(kept)}${confirmForm(view, said(takenFrom === null ? "flow.confirm" : "flow.taken.move"))}`
    : null,
)}
</ol>
${view.sid !== null || chat !== null ? declineHtml(view, said("flow.cancel")) : null}`;
};

/** Says who has the game account, and loses it with the confirmation. */
const takenNote = ({ takenFrom, game }: FlowView): Html | null =>
  takenFrom &&
  html`
<p>${said("flow.taken.text", { ...nameOf(game), other: accountName(takenFrom) })}</p>
${cardHtml(takenFrom)}`;

/** Warns users who finish a verification that somebody else, a player of the game, started. */
const playerNote = ({ player }: FlowView): Html | null =>
  player === null ? null : html`<p><strong>${said("flow.player.only")}</strong></p>`;

const introOf = ({ asking, chat, game, player }: FlowView): Html => {
  const names = { asking: own(asking) };
  if (chat !== null && game !== null) return said("flow.confirm.text", names);
  return player === null
    ? said("flow.link.text", names)
    : said("flow.player.text", { ...names, account: accountName(game ?? player) });
};

type StepState = "done" | "current" | "later";

const stateOf = ({ chat, game }: FlowView): StepState => {
  if (game !== null) return "done";
  return chat === null ? "later" : "current";
};

const step = (name: Html, state: StepState, content: Html | null): Html => html`
<li class="${state}"${state === "current" ? html` aria-current="step"` : null}>
<h2>${state === "done" ? said("flow.step.done", { step: name, unseen: tags.unseen }) : name}</h2>
${content}
</li>`;

const signInText = (platform: Html): Html => capitalised(said("flow.sign_in", { platform }));

const chatStep = (view: FlowView): Html =>
  view.chat === null
    ? html`<a class="button" href="${to(flowPath(view.entry, "/chat/start"))}">${signInText(platforms.chat)}</a>`
    : html`
${cardHtml(view.chat)}
${otherChat(view)}`;

/** The link to prove another chat account, which voids the proof of the game account, so the text says it. */
const otherChat = (view: FlowView): Html =>
  html`<p class="other"><a href="${to(flowPath(view.entry, "/chat/start"))}">${said("flow.other_account", { platform: platforms.chat })}</a></p>${
    view.gameProof === "oauth" ? html`<p class="aside">${said("flow.sign_in_again")}</p>` : null
  }`;

const gameStep = (view: FlowView): Html =>
  view.game === null
    ? html`
${!hasWay(view) && wayNeeded(view)}
${knownAccounts(view)}
${view.connections.length > 0 && html`<p>${said("flow.connections")}</p>`}
${connectedAccounts(view)}
${openWays(view).map((way, index) => wayButton(way, index > 0 || view.connections.length + view.known.length > 0, view))}`
    : html`
${cardHtml(view.game)}
${proofNote(view)}
${otherGame(view)}`;

const wayTo = (way: OpenWay, view: FlowView) =>
  way === "oauth"
    ? { path: flowPath(view.entry, "/game/start"), label: signInText(platforms.game) }
    : { path: flowPath(view.entry, "/game/words"), label: said("flow.words") };

const wayButton = (way: OpenWay, isQuiet: boolean, view: FlowView): Html => {
  const { path, label } = wayTo(way, view);
  // With one way alone there is nothing to choose.
  const isAlone = openWays(view).length < 2;
  return html`<p><a class="button${isQuiet ? " quiet" : ""}" href="${to(path)}"><span>${label}</span></a></p>
${!isAlone && html`<p class="other">${said(`flow.${way}.for`)}</p>`}`;
};

/** Says how the account was proven where the user did not sign in to it. */
const proofNote = ({ gameProof }: FlowView): Html | null => {
  if (gameProof === "words") return html`<p class="good" role="status">${said("words.remove")}</p>`;
  return gameProof === "connection" ? html`<p class="other">${said("flow.connection")}</p>` : null;
};

const byUse =
  ({ gameProof }: FlowView) =>
  (one: string, other: string): number =>
    Number(other === gameProof) - Number(one === gameProof);

/** The ways to use another game account, first the one that the user chose: others may be closed to a young player. */
const otherGame = (view: FlowView): Html => html`
${knownAccounts(view)}
${connectedAccounts(view)}
${openWays(view)
  .toSorted(byUse(view))
  .map((way, index) => {
    const { path, label } = wayTo(way, view);
    const text = index === 0 ? said("flow.other_account", { platform: platforms.game }) : label;
    return html`<p class="other"><a href="${to(path)}">${text}</a></p>`;
  })}`;

/** Asks a user who already has another game account which of the two to link. Each account has a button. */
const choice = (view: FlowView, replaced: NonNullable<FlowView["game"]>, kept: Millis): Html => {
  const { chat, player } = view;
  const game = view.game ?? player;
  return html`
<p>${said("flow.choice.text", nameOf(chat))}</p>
${takenNote(view)}
${playerNote(view)}
<ul class="choices" role="list">
<li><h2>${said("flow.choice.now")}</h2>${cardHtml(replaced)}${keepForm(view, said("flow.choice.keep", nameOf(replaced)))}</li>
<li><h2>${said("flow.choice.new")}</h2>${game && cardHtml(game)}${confirmForm(view, said("flow.choice.link", nameOf(game)))}</li>
</ul>
${declineHtml(view, said("flow.choice.cancel"))}
${proofNote(view)}
${otherGame(view)}
${otherChat(view)}
${keptSighting(kept)}`;
};

const nameOf = (account: FlowView["chat"] | FlowView["game"]) => ({
  account: account === null ? "" : accountName(account),
});

/** The label is one element, because a button lays out its elements and its texts side by side. */
const confirmForm = (view: FlowView, label: Html): Html =>
  form(
    "/verify/confirm",
    view,
  )`${view.takenFrom && hiddenFields({ move: "1", holder: view.takenFrom.id })}<button class="button"><span>${label}</span></button>`;

const keepForm = (view: FlowView, label: Html): Html =>
  form(
    "/verify/confirm",
    view,
  )`<button class="button quiet" name="keep" value="1"><span>${label}</span></button>`;

/** Asks before it ends the verification, because nobody can open an ended one again. */
export const declineHtml = (view: FlowView, label: Html): Html => html`
<details class="decline">
<summary>${label}</summary>
<p>${said("flow.cancel.text")}</p>
${form("/verify/cancel", view)`<button class="button quiet">${said("flow.cancel.yes")}</button>`}
</details>`;

/** Tells users that a confirmation stores their IP address and a cookie that recognizes their browser. */
const keptSighting = (kept: Millis): Html | null =>
  kept === 0 ? null : html`<p class="kept">${said("flow.kept", { days: Math.ceil(kept / dayMs) })}</p>`;

/** Says how many minutes are left when the page is shown. The style sheet counts down. */
export const timeLeft = (expiresAt: Millis, now: Millis): Html => {
  const left = expiresAt - now;
  const minutes = Math.round(left / 60_000);
  return html`${left < 60_000 ? said("flow.seconds_left") : said("flow.minutes_left", { minutes })}
<link rel="stylesheet" href="${to(countdownPath)}?seconds=${Math.max(0, Math.floor(left / 1_000))}"><span class="clock"
aria-hidden="true"></span>`;
};

const linkedItem = (platform: Html, card: Html): Html =>
  html`<li><h2>${capitalised(platform)}</h2>${card}</li>`;

/** The page after a confirmation, for users who are not redirected to another site. */
export const donePage = ({ entry, chat, game, linkChanged, kept, doneText, guildId }: FlowLinked): Page => {
  const title = said(kept ? "done.kept.title" : "done.title");
  return {
    title,
    address: flowPath(entry),
    pictures: picturesOf([chat, game]),
    content: html`
<p class="sign good" aria-hidden="true">✓</p>
<h1>${title}</h1>
<ul class="pair" role="list">${linkedItem(platforms.chat, cardHtml(chat))}${linkedItem(platforms.game, cardHtml(game))}</ul>
${
  // Who kept an account has linked none, which the text of the community may reward.
  doneText !== null && !kept && html`<p dir="auto">${doneText}</p>`
}
<p>${sentences([linkChanged || kept ? null : said("done.again"), said("done.close")])}</p>
${wayBack({ guildId, redirect: null })}
<p class="aside"><a href="${to("/me")}">${said("done.data")}</a></p>`,
  };
};

export const cancelledPage = ({ entry, guildId, redirect }: FlowEnded): Page => {
  const title = said("cancelled.title");
  return {
    title,
    address: flowPath(entry),
    content: html`
<h1>${title}</h1>
<p>${said("cancelled.text")}</p>
${wayBack({ guildId, redirect })}`,
  };
};

/** The button that leads back to the site of the client, or to the community on the chat platform. */
export const wayBack = ({ guildId, redirect }: Pick<FlowEnded, "guildId" | "redirect">, look = ""): Html =>
  byPlatforms(({ chatHome = null, chat }) => {
    if (redirect !== null) return backButton(redirect, new URL(redirect).host, look);
    return chatHome === null ? html`` : backButton(chatHome(guildId), chat, look);
  });

const backButton = (url: string, name: string, look: string): Html =>
  html`<p><a class="button${look}" href="${to(url)}"><span>${said("done.back", { site: own(name) })}</span></a></p>`;
