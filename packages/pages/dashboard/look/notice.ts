/** Shows the result of an action on the page to which the action redirects. */
import { type Html, html } from "../../html.ts";
import { type DashboardKey, inLanguage, say } from "./say.ts";

/** The name of a notice. The redirect after an action contains it as the query parameter `done`. */
export type NoticeName =
  Extract<DashboardKey, `notice.${string}`> extends `notice.${infer Name}` ? Name : never;

const bad: ReadonlySet<string> = new Set<NoticeName>(["downloading", "notSent", "noneSelected"]);

/** The notice named in a URL about the list of the page; null for unknown names. */
export const noticeHtml = (name: unknown, list = say("list.shared_within")): Html | null =>
  typeof name !== "string" || name === ""
    ? null
    : inLanguage(({ has, say: inWords }) =>
        has(`notice.${name}`)
          ? statusHtml(inWords(`notice.${name}`, { list }), bad.has(name) ? "bad" : "good")
          : html``,
      );

/** Renders a message for the start of the page. Screen readers announce it first, because it gets the focus. */
export const statusHtml = (content: string | Html, tone: "good" | "warn" | "bad" = "good"): Html =>
  html`<div class="notice ${tone}" role="status" tabindex="-1" autofocus><p>${content}</p></div>`;
