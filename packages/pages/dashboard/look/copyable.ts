/** Texts to copy to another device or program: with a button, or as a QR code. */

import { encodeQR } from "qr";
import { Html, html } from "../../html.ts";
import { plain, say } from "./say.ts";

/**
 * @param id unique on the page
 * @param label the label of the button, or in English the kind of text, such as "key"
 */
export const copyable = (id: string, label: string | Html, text: string): Html => html`
<div class="copyable">
<pre id="${id}">${text}</pre>
<button type="button" class="button quiet small" data-copies="${id}" data-copied="${plain(say("frame.copied"))}" data-selected="${plain(say("frame.selected"))}" hidden>${label instanceof Html ? label : html`Copy <span class="unseen">the ${label}</span>`}</button>
</div>`;

/**
 * @param text the encoded text, such as a URL
 * @param title a description for users who cannot see the code
 */
export const qrCode = (text: string, title: Html): Html => {
  const rows = encodeQR(text, "raw", { border: 2 });
  const path = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return html`<svg class="qr" viewBox="0 0 ${rows.length} ${rows.length}" role="img" shape-rendering="crispEdges"><title>${plain(title)}</title><path d="${path}"/></svg>`;
};
