import { type Html, html } from "../../html.ts";
import { plain, say } from "./say.ts";
import { numberHtml } from "./time.ts";

/** How far work is whose length may be unknown yet: then `total` is 0. */
interface Progress {
  readonly done: number;
  readonly total: number;
}

/** @param label says to screen readers what advances */
export const progressBar = (label: Html, { done, total }: Progress): Html =>
  html`<progress aria-label="${plain(label)}"${
    total !== 0 && html` max="${total}" value="${Math.min(done, total)}"`
  }></progress>`;

export const progressText = ({ done, total }: Progress): Html =>
  total === 0
    ? numberHtml(done)
    : say("links.progress", { done: numberHtml(done), total: numberHtml(total) });
