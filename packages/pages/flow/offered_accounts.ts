/** The game accounts that a user can prove with one press. */
import type { FlowView } from "@accountlink/core/flow";
import { cardHtml, gameCard } from "../account_card.ts";
import { type Html, html } from "../html.ts";
import { own } from "../languages/language.ts";
import type { Reader } from "../page_render.ts";
import { form } from "./flow_form.ts";

/** The game accounts that the chat platform named, each with a button to use it. */
export const connectedAccounts = (view: FlowView, reader: Reader): ReadonlyArray<Html> =>
  view.connections.map((account) => accountToUse("connection", account, null, view, reader));

/** The game accounts that the user has proven to other communities, which are not named. */
export const knownAccounts = (view: FlowView, reader: Reader): Html | null => {
  const { language } = reader;
  if (view.known.length === 0) return null;
  return html`<p>${language.text("flow.known")}</p>${view.known.map((account) =>
    accountToUse(
      "known",
      account,
      html`<p class="other">${language.text(`proof.${account.proof}`, reader)} ${language.day(account.provenAt)}</p>`,
      view,
      reader,
    ),
  )}`;
};

const accountToUse = (
  way: "known" | "connection",
  account: FlowView["connections"][number],
  note: Html | null,
  view: FlowView,
  { language }: Reader,
): Html => {
  const card = gameCard(account, language);
  return html`
${cardHtml(card)}
${note}
${form(`/verify/game/${way}`, view)`<button class="button${way === "known" ? "" : " quiet"}" name="gameId" value="${account.id}"><span>${language.html("flow.connection.use", { account: own(card.name) })}</span></button>`}`;
};
