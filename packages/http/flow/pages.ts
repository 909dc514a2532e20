/**
 * The pages of the public verification flow.
 */
import type { FlowConfirmed, FlowEntry, FlowView, ProofStep } from "@accountlink/core";
import { chatFace, type Face, faceHtml, gameFace } from "./face.ts";
import { type Html, html } from "./html.ts";
import type { Page } from "./page.ts";

/** The query by which a browser enters the flow. */
export const queryOf = (entry: FlowEntry): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(entry)) if (typeof value === "string") query.set(name, value);
  return query.toString();
};

/** The page of a browser on its way: who asks, what is proven, and what comes next. */
export const flowPage = (view: FlowView, now: number): Page => {
  const { redirect, replaces } = view;
  const [chat, game, replaced] = [chatFace(view.chat), gameFace(view.game), gameFace(replaces)];
  const isProven = chat !== null && game !== null;
  return {
    status: 200,
    title: isProven ? "Is this right?" : "Link your accounts",
    pictures: picturesOf([chat, game, replaced]),
    redirect,
    content: html`
<p class="asking"><strong>${view.asking}</strong> asks you${guildNote(view)}</p>
<h1>${isProven ? "Is this right?" : "Link your accounts"}</h1>
<p>${
      isProven
        ? html`Once you confirm, ${view.asking} knows that these two belong together.`
        : html`Show that a chat account and a game account are both yours. ${view.asking} then knows that they belong together, and nothing else.`
    }</p>
<ol class="steps" role="list">
${step("Chat account", chat === null ? "current" : "done", chat === null ? signIn("chat", view) : proven("chat", chat, view))}
${step("Game account", stateOf(chat, game), game === null ? chat && signIn("game", view) : proven("game", game, view))}
${step("Confirm", isProven ? "current" : "later", isProven ? confirmation(view, game, replaced) : null)}
</ol>
${replaced === null && (view.sid !== null || chat !== null) ? cancelForm(view, "Do not link anything") : null}
<p class="aside">${redirect === null ? null : html`Afterwards you go on to ${new URL(redirect).host}. `}You have ${timeLeft(view.expiresAt - now)} left.</p>`,
  };
};

/** The page at the end, for who is not sent on. */
export const donePage = ({
  chat,
  game,
  linkChanged,
}: Extract<FlowConfirmed, { readonly redirect: null }>): Page => {
  const faces = [chatFace(chat), gameFace(game)].filter((face) => face !== null);
  return {
    status: 200,
    title: "Your accounts are linked",
    pictures: picturesOf(faces),
    content: html`
<p class="sign good" aria-hidden="true">✓</p>
<h1>Your accounts are linked</h1>
<ul class="pair" role="list">${faces.map((face) => html`<li>${faceHtml(face)}</li>`)}</ul>
<p>${linkChanged ? null : "They were linked before, and you have confirmed it. "}You can close this page and go back to the chat.</p>`,
  };
};

/** The page after the user has said no. */
export const cancelledPage: Page = {
  status: 200,
  title: "Nothing was linked",
  content: html`
<h1>Nothing was linked</h1>
<p>As you wished. You can close this page. If you change your mind, begin again where you began.</p>`,
};

const picturesOf = (faces: ReadonlyArray<Face | null>): ReadonlyArray<string> =>
  faces.flatMap((face) => face?.picture ?? []);

const guildNote = ({ guild }: FlowView): Html | null =>
  guild &&
  html`, for the community ${guild.name === null ? `with the ID ${guild.id}` : html`<strong>${guild.name}</strong>`}`;

type StepState = "done" | "current" | "later";

const stateOf = (chat: Face | null, game: Face | null): StepState => {
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

const signIn = (proof: ProofStep, view: FlowView): Html =>
  html`<a class="button" href="${startPath(proof, view)}">Sign in to the ${proof} platform</a>`;

const proven = (proof: ProofStep, face: Face, view: FlowView): Html => html`
${faceHtml(face)}
<p class="other"><a href="${startPath(proof, view)}">Use another ${proof} account</a></p>`;

const confirmation = (view: FlowView, game: Face, replaced: Face | null): Html =>
  replaced === null
    ? confirmForm(view, "Link these accounts")
    : html`
<p>Your chat account is linked to another game account already:</p>
${faceHtml(replaced)}
<p>It can have only one. Which one?</p>
${confirmForm(view, `Link ${game.name} instead`)}
${cancelForm(view, `Keep ${replaced.name}`)}`;

const confirmForm = (view: FlowView, label: string): Html =>
  form("/verify/confirm", view, html`<button class="button">${label}</button>`);

const cancelForm = (view: FlowView, label: string): Html =>
  form("/verify/cancel", view, html`<button class="button quiet">${label}</button>`);

const form = (action: string, { csrf, sid }: FlowView, button: Html): Html => html`
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
${sid === null ? null : html`<input type="hidden" name="sid" value="${sid}">`}
${button}
</form>`;

/** The page stands still, so that it says no more than what is true for a while. */
const timeLeft = (milliseconds: number): string => {
  if (milliseconds < 60_000) return "less than a minute";
  const minutes = Math.round(milliseconds / 60_000);
  return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
};
