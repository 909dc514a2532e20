/** The game accounts that a user can prove with one press. */
import type { FlowView } from "@accountlink/core/flow";
import { accountName, cardHtml } from "../account_card.ts";
import { type Html, html } from "../html.ts";
import { longDay, said } from "../said.ts";
import { form } from "./flow_form.ts";

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
