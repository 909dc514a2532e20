/** The ways to prove a game account: which ones there are, and what a user needs who has none of them. */
import type { FlowView } from "@accountlink/core/flow";
import { type Html, html, to } from "../html.ts";
import { capitalised, said } from "../said.ts";
import { flowPath } from "./flow_form.ts";

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
