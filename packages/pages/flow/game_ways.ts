/** The ways to prove a game account: which ones there are, and what a user needs who has none of them. */
import type { FlowView } from "@accountlink/core/flow";
import { type Html, html, to } from "../html.ts";
import type { Reader } from "../page_render.ts";
import { queryOf, startPath } from "./flow_form.ts";

/** A way that every user has, in contrast to accounts that this service or the chat platform knows. */
export type OpenWay = Exclude<FlowView["ways"][number], "known" | "connection">;

export const openWays = ({ ways }: Pick<FlowView, "ways">): ReadonlyArray<OpenWay> =>
  ways.filter((way) => way !== "known" && way !== "connection");

/** Whether the user can prove an account at present. */
export const hasWay = (view: FlowView): boolean =>
  openWays(view).length + view.known.length + view.connections.length > 0;

/** Names the ways before the user signs in, and what they need. */
export const waysAhead = (view: FlowView, reader: Reader): Html => {
  const { language } = reader;
  const ways = view.ways.map((way) => html`<li>${language.text(`home.proof.${way}`, reader)}</li>`);
  return html`
${ways.length > 0 && view.needs !== "session" && html`<p>${language.text("home.proof", reader)}</p><ul>${ways}</ul>`}
${needText(view, reader)}`;
};

/** Says what a user needs who has none of the ways, and how to go on. */
export const wayNeeded = (view: FlowView, reader: Reader): Html => {
  const { language } = reader;
  const isConnection = view.needs === "connection";
  const again = isConnection ? startPath("chat", view) : `/verify?${queryOf(view.entry)}`;
  return html`
${isConnection ? html`<p>${language.capitalised(language.text("flow.none.connection", reader))}</p>` : null}
${needText(view, reader)}
<p><a class="button${view.needs === "session" ? " quiet" : ""}" href="${to(again)}">${language.text("refusal.retry")}</a></p>`;
};

const needText = ({ needs }: FlowView, reader: Reader): Html | null => {
  const { language } = reader;
  switch (needs) {
    case "connection":
      return html`<p>${language.text("flow.connect", reader)}</p>`;
    case "answer":
      return html`<p>${language.capitalised(language.text("flow.none.answer", reader))}</p>`;
    case "session":
      return html`<p>${language.text("flow.none", reader)}</p>
<p><a class="button" href="${to("/go")}">${language.text("home.code")}</a></p>`;
    case null:
      return null;
  }
};
