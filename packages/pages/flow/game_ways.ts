/** The ways to prove a game account: which ones there are, the accounts that take one press, and what a user needs without any. */
import type { FlowView } from "@accountlink/core/flow";
import { accountName, cardHtml } from "../account_card.ts";
import { type Html, html, to } from "../html.ts";
import { capitalised, longDay, said } from "../said.ts";
import { flowPath, form } from "./flow_form.ts";

/** A way that every user has, in contrast to accounts that this service or the chat platform knows. */
export type OpenWay = Exclude<FlowView["ways"][number], "known" | "connection">;

export const openWays = ({ ways }: Pick<FlowView, "ways">): ReadonlyArray<OpenWay> =>
  ways.filter((way) => way !== "known" && way !== "connection");

/** Whether the user can prove an account at present. */
export const hasWay = (view: FlowView): boolean =>
  openWays(view).length + view.known.length + view.connections.length > 0;

/** Names the ways before the user signs in, and what they need. */
export const waysAhead = ({ ways, needs }: FlowView): Html => html`
${
  ways.length > 0 &&
  needs !== "session" &&
  html`<p>${said("home.proof")}</p><ul>${ways.map((way) => html`<li>${said(`home.proof.${way}`)}</li>`)}</ul>`
}
${needText(needs)}`;

/** Says what a user needs who has none of the ways, and how to go on. */
export const wayNeeded = (view: FlowView): Html => {
  const isConnection = view.needs === "connection";
  const again = flowPath(view.entry, isConnection ? "/chat/start" : "");
  return html`
${isConnection ? html`<p>${capitalised(said("flow.none.connection"))}</p>` : null}
${needText(view.needs)}
<p><a class="button${view.needs === "session" ? " quiet" : ""}" href="${to(again)}">${said("refusal.retry")}</a></p>`;
};

const needText = (needs: FlowView["needs"]): Html | null => {
  switch (needs) {
    case "connection":
      return html`<p>${said("flow.connect")}</p>`;
    case "answer":
      return html`<p>${capitalised(said("flow.none.answer"))}</p>`;
    case "session":
      return html`<p>${said("flow.none")}</p>
<p><a class="button" href="${to("/go")}">${said("home.code")}</a></p>`;
    case null:
      return null;
  }
};

/** The game accounts that the chat platform named, each with a button to use it. */
export const connectedAccounts = (view: FlowView): ReadonlyArray<Html> =>
  view.connections.map((account) => accountToUse("connection", account, null, view));

/** The game accounts that the user has proven to other communities, which are not named. */
export const knownAccounts = (view: FlowView): Html | null => {
  if (view.known.length === 0) return null;
  return html`<p>${said("flow.known")}</p>${view.known.map((account) => {
    const note = html`<p class="other">${said(`proof.${account.proof}`)} ${longDay(account.provenAt)}</p>`;
    return accountToUse("known", account, note, view);
  })}`;
};

const accountToUse = (
  way: "known" | "connection",
  account: FlowView["connections"][number],
  note: Html | null,
  view: FlowView,
): Html => html`
${cardHtml(account)}
${note}
${form(`/verify/game/${way}`, view)`<button class="button${way === "known" ? "" : " quiet"}" name="gameId" value="${account.id}"><span>${said("flow.connection.use", { account: accountName(account) })}</span></button>`}`;
