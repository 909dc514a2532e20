import type { FlowEnded, FlowLinked, FlowView } from "@accountlink/core/flow";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { type AccountCard, cardHtml, chatCard, gameCard } from "../account_card.ts";
import { type Html, hiddenFields, html, to } from "../html.ts";
import { bold, code, own, unseen } from "../languages/language.ts";
import { countdownPath, type Page } from "../page.ts";
import type { Reader } from "../page_render.ts";
import { form, queryOf, startPath } from "./flow_form.ts";
import { hasWay, type OpenWay, openWays, wayNeeded, waysAhead } from "./game_ways.ts";
import { connectedAccounts, knownAccounts } from "./offered_accounts.ts";
import { takenNote } from "./taken_note.ts";

/** The reader, and the settings of the deployment that the pages mention. */
export interface FlowReader extends Reader {
  /** How long the service stores the IP addresses and browsers of users, in milliseconds; 0 if it stores none. */
  readonly sightingRetention: number;
}

/** The page of an unfinished flow: who asks, which accounts are proven, and the next step. */
export const flowPage = (view: FlowView, reader: FlowReader, now: number): Page => {
  const { redirect } = view;
  const { language } = reader;
  const cards = cardsOf(view, reader);
  const title = language.text(titleOf(view));
  return {
    title,
    pictures: [
      ...picturesOf(Object.values(cards)),
      ...picturesOf([...view.known, ...view.connections].map((account) => gameCard(account, language))),
    ],
    redirect,
    csrf: view.csrf,
    content: html`
<p class="asking">${askingHtml(view, reader)}</p>
<h1>${title}</h1>
${cards.replaced === null ? steps(view, reader, cards) : choice(view, reader, cards)}
${supportNote(view, reader)}
<p class="aside">${language.sentences([
      redirect && language.html("flow.afterwards", { site: code(new URL(redirect).host) }),
      timeLeft(view.expiresAt, now, reader),
    ])}</p>`,
  };
};

const titleOf = ({ chat, game, replaces }: FlowView) => {
  if (replaces !== null) return "flow.choice.title";
  return chat !== null && game !== null ? "flow.confirm.title" : "flow.link.title";
};

export const askingHtml = ({ asking, guild }: FlowView, { language }: Reader): Html => {
  const asks = { asking: own(asking), b: bold };
  if (guild === null || guild.name === asking) return language.html("flow.asks", asks);
  return guild.name === null
    ? language.html("flow.asks.guild_id", { ...asks, guildId: code(guild.id) })
    : language.html("flow.asks.guild", { ...asks, guild: own(guild.name) });
};

export const supportNote = ({ supportUrl }: FlowView, { language }: Reader): Html | null =>
  supportUrl === null
    ? null
    : html`<p class="aside"><a href="${to(supportUrl)}" rel="noreferrer">${language.text("flow.help")}</a></p>`;

interface Cards {
  readonly chat: AccountCard | null;
  readonly game: AccountCard | null;
  readonly replaced: AccountCard | null;
}

const cardsOf = ({ chat, game, player, replaces }: FlowView, { language }: Reader): Cards => {
  const shown = game ?? player;
  return {
    chat: chat && chatCard(chat, language),
    game: shown && gameCard(shown, language),
    replaced: replaces && gameCard(replaces, language),
  };
};

const picturesOf = (cards: ReadonlyArray<AccountCard | null>): ReadonlyArray<string> =>
  cards.flatMap((card) => card?.picture ?? []);

/** The two sign-ins and the confirmation, the current step with its button. Shows the player that the session names. */
const steps = (view: FlowView, reader: FlowReader, { chat, game }: Cards): Html => {
  const { language, chatName, gameName } = reader;
  const isProven = view.chat !== null && view.game !== null;
  const accountOn = (platform: string) =>
    language.capitalised(language.text("flow.step.account", { platform }));
  const chatItem = step(
    accountOn(chatName),
    chat === null ? "current" : "done",
    chatStep(chat, view, reader),
    reader,
  );
  const gameItem =
    view.player === null
      ? step(
          accountOn(gameName),
          stateOf(chat, game),
          chat === null ? waysAhead(view, reader) : gameStep(game, view, reader),
          reader,
        )
      : step(accountOn(gameName), "done", game && cardHtml(game), reader);
  return html`
<p>${introOf(view, reader, game)}</p>
${playerNote(view, reader)}
<ol class="steps" role="list">
${view.player === null ? [chatItem, gameItem] : [gameItem, chatItem]}
${step(
  language.text("flow.step.confirm"),
  isProven ? "current" : "later",
  isProven
    ? html`${takenNote(view, reader)}${keptSighting(reader)}${confirmForm(view, language.text(view.takenFrom === null ? "flow.confirm" : "flow.taken.move"))}`
    : null,
  reader,
)}
</ol>
${view.sid !== null || chat !== null ? declineHtml(view, language.text("flow.cancel"), reader) : null}`;
};

/** Warns users who finish a verification that somebody else, a player of the game, started. */
const playerNote = ({ player }: FlowView, { language }: Reader): Html | null =>
  player === null ? null : html`<p><strong>${language.text("flow.player.only")}</strong></p>`;

const introOf = (
  { asking, chat, game, player }: FlowView,
  reader: Reader,
  card: AccountCard | null,
): Html => {
  const { language, chatName, gameName } = reader;
  const names = { asking: own(asking) };
  if (chat !== null && game !== null) return language.html("flow.confirm.text", names);
  return player === null
    ? language.html("flow.link.text", { ...names, chatName, gameName })
    : language.html("flow.player.text", { ...names, chatName, ...nameOf(card) });
};

type StepState = "done" | "current" | "later";

const stateOf = (chat: AccountCard | null, game: AccountCard | null): StepState => {
  if (game !== null) return "done";
  return chat === null ? "later" : "current";
};

const step = (name: string, state: StepState, content: Html | null, { language }: Reader): Html => html`
<li class="${state}"${state === "current" ? html` aria-current="step"` : null}>
<h2>${state === "done" ? language.html("flow.step.done", { step: name, unseen }) : name}</h2>
${content}
</li>`;

const signInText = (platform: string, { language }: Reader): string =>
  language.capitalised(language.text("flow.sign_in", { platform }));

const chatStep = (proven: AccountCard | null, view: FlowView, reader: Reader): Html =>
  proven === null
    ? html`<a class="button" href="${to(startPath("chat", view))}">${signInText(reader.chatName, reader)}</a>`
    : html`
${cardHtml(proven)}
${otherChat(view, reader)}`;

/** The link to prove another chat account, which voids the proof of the game account, so the text says it. */
const otherChat = (view: FlowView, reader: Reader): Html => {
  const { language, chatName } = reader;
  return html`<p class="other"><a href="${to(startPath("chat", view))}">${language.text("flow.other_account", { platform: chatName })}</a></p>${
    view.gameProof === "oauth"
      ? html`<p class="aside">${language.text("flow.sign_in_again", reader)}</p>`
      : null
  }`;
};

const gameStep = (proven: AccountCard | null, view: FlowView, reader: Reader): Html =>
  proven === null
    ? html`
${!hasWay(view) && wayNeeded(view, reader)}
${knownAccounts(view, reader)}
${view.connections.length > 0 && html`<p>${reader.language.text("flow.connections", reader)}</p>`}
${connectedAccounts(view, reader)}
${openWays(view).map((way, index) => wayButton(way, index > 0 || view.connections.length + view.known.length > 0, view, reader))}`
    : html`
${cardHtml(proven)}
${proofNote(view, reader)}
${otherGame(view, reader)}`;

const wayTo = (way: OpenWay, view: FlowView, reader: Reader) =>
  way === "oauth"
    ? { path: startPath("game", view), label: signInText(reader.gameName, reader) }
    : { path: wordsPath(view), label: reader.language.text("flow.words", reader) };

const wordsPath = ({ entry }: FlowView): string => `/verify/game/words?${queryOf(entry)}`;

const forWhomText = (way: OpenWay, { language, gameName }: Reader): string =>
  way === "oauth" ? language.text("flow.oauth.for", { gameName }) : language.text("flow.words.for");

const wayButton = (way: OpenWay, isQuiet: boolean, view: FlowView, reader: Reader): Html => {
  const { path, label } = wayTo(way, view, reader);
  // With one way alone there is nothing to choose.
  const forWhom = openWays(view).length < 2 ? null : forWhomText(way, reader);
  return html`<p><a class="button${isQuiet ? " quiet" : ""}" href="${to(path)}"><span>${label}</span></a></p>
${forWhom !== null && html`<p class="other">${forWhom}</p>`}`;
};

/** Says how the account was proven where the user did not sign in to it. */
const proofNote = ({ gameProof }: FlowView, reader: Reader): Html | null => {
  if (gameProof === "words")
    return html`<p class="good" role="status">${reader.language.text("words.remove")}</p>`;
  return gameProof === "connection"
    ? html`<p class="other">${reader.language.text("flow.connection", reader)}</p>`
    : null;
};

const byUse =
  ({ gameProof }: FlowView) =>
  (one: string, other: string): number =>
    Number(other === gameProof) - Number(one === gameProof);

/** The ways to use another game account, first the one that the user chose: others may be closed to a young player. */
const otherGame = (view: FlowView, reader: Reader): Html => html`
${knownAccounts(view, reader)}
${connectedAccounts(view, reader)}
${openWays(view)
  .toSorted(byUse(view))
  .map((way, index) => {
    const { path, label } = wayTo(way, view, reader);
    const { language, gameName } = reader;
    const text = index === 0 ? language.text("flow.other_account", { platform: gameName }) : label;
    return html`<p class="other"><a href="${to(path)}">${text}</a></p>`;
  })}`;

/** Asks a user who already has another game account which of the two to link. Each account has a button. */
const choice = (view: FlowView, reader: FlowReader, { chat, game, replaced }: Cards): Html => {
  const { language, chatName, gameName } = reader;
  return html`
<p>${language.html("flow.choice.text", { ...nameOf(chat), chatName, gameName })}</p>
${takenNote(view, reader)}
${playerNote(view, reader)}
<ul class="choices" role="list">
<li><h2>${language.text("flow.choice.now")}</h2>${replaced && cardHtml(replaced)}${keepForm(view, language.html("flow.choice.keep", nameOf(replaced)))}</li>
<li><h2>${language.text("flow.choice.new")}</h2>${game && cardHtml(game)}${confirmForm(view, language.html("flow.choice.link", nameOf(game)))}</li>
</ul>
${declineHtml(view, language.text("flow.choice.cancel"), reader)}
${proofNote(view, reader)}
${otherGame(view, reader)}
${otherChat(view, reader)}
${keptSighting(reader)}`;
};

const nameOf = (card: AccountCard | null) => ({ account: own(card?.name ?? "") });

/** The label is one element, because a button lays out its elements and its texts side by side. */
const confirmForm = (view: FlowView, label: Html | string): Html =>
  form(
    "/verify/confirm",
    view,
  )`${view.takenFrom && hiddenFields({ move: "1" })}<button class="button"><span>${label}</span></button>`;

const keepForm = (view: FlowView, label: Html): Html =>
  form(
    "/verify/confirm",
    view,
  )`<button class="button quiet" name="keep" value="1"><span>${label}</span></button>`;

/** Asks before it ends the verification, because nobody can open an ended one again. */
export const declineHtml = (view: FlowView, label: string, { language }: Reader): Html => html`
<details class="decline">
<summary>${label}</summary>
<p>${language.text("flow.cancel.text")}</p>
${form("/verify/cancel", view)`<button class="button quiet">${language.text("flow.cancel.yes")}</button>`}
</details>`;

/** Tells users that a confirmation stores their IP address and a cookie that recognizes their browser. */
const keptSighting = ({ language, sightingRetention }: FlowReader): Html | null =>
  sightingRetention === 0
    ? null
    : html`<p class="kept">${language.text("flow.kept", { days: Math.ceil(sightingRetention / dayMs) })}</p>`;

/** Says how many minutes are left when the page is shown. The style sheet counts down. */
export const timeLeft = (expiresAt: Millis, now: Millis, { language }: Reader): Html => {
  const left = expiresAt - now;
  const minutes = Math.round(left / 60_000);
  return html`${
    left < 60_000 ? language.text("flow.seconds_left") : language.text("flow.minutes_left", { minutes })
  }
<link rel="stylesheet" href="${to(countdownPath)}?seconds=${Math.max(0, Math.floor(left / 1_000))}"><span class="clock"
aria-hidden="true"></span>`;
};

/** The page after a confirmation, for users who are not redirected to another site. */
export const donePage = (
  { entry, chat, game, linkChanged, kept, doneText, guildId }: FlowLinked,
  reader: Reader,
): Page => {
  const { language, chatName, gameName } = reader;
  const cards = [
    [chatName, chatCard(chat, language)],
    [gameName, gameCard(game, language)],
  ] as const;
  const title = language.text(kept ? "done.kept.title" : "done.title");
  return {
    title,
    address: `/verify?${queryOf(entry)}`,
    pictures: picturesOf(cards.map(([, card]) => card)),
    content: html`
<p class="sign good" aria-hidden="true">✓</p>
<h1>${title}</h1>
<ul class="pair" role="list">${cards.map(
      ([platform, card]) => html`<li><h2>${language.capitalised(platform)}</h2>${cardHtml(card)}</li>`,
    )}</ul>
${
  // Who kept an account has linked none, which the text of the community may reward.
  doneText !== null && !kept && html`<p dir="auto">${doneText}</p>`
}
<p>${language.sentences([linkChanged || kept ? null : language.text("done.again"), language.text("done.close", reader)])}</p>
${wayBack(reader, { guildId, redirect: null })}
<p class="aside"><a href="${to("/me")}">${language.text("done.data")}</a></p>`,
  };
};

export const cancelledPage = ({ entry, guildId, redirect }: FlowEnded, reader: Reader): Page => {
  const { language } = reader;
  const title = language.text("cancelled.title");
  return {
    title,
    address: `/verify?${queryOf(entry)}`,
    content: html`
<h1>${title}</h1>
<p>${language.text("cancelled.text")}</p>
${wayBack(reader, { guildId, redirect })}`,
  };
};

/** The button that leads back to the site of the client, or to the community on the chat platform. */
export const wayBack = (
  reader: Reader,
  { guildId, redirect }: Pick<FlowEnded, "guildId" | "redirect">,
  look = "",
): Html | null => {
  if (redirect !== null) return backButton(redirect, new URL(redirect).host, reader, look);
  return reader.chatHome && backButton(reader.chatHome(guildId), reader.chatName, reader, look);
};

const backButton = (url: string, name: string, { language }: Reader, look: string): Html =>
  html`<p><a class="button${look}" href="${to(url)}"><span>${language.html("done.back", { site: own(name) })}</span></a></p>`;
