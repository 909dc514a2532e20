/** A QR code as SVG, drawn as one path. */

import { encodeQR } from "qr";
import { type Html, html } from "../../html.ts";

/**
 * @param text what the code has, such as a URL
 * @param title what it is, for those who cannot see it
 */
export const qrCode = (text: string, title: string): Html => {
  const rows = encodeQR(text, "raw", { border: 2 });
  const path = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return html`<svg class="qr" viewBox="0 0 ${rows.length} ${rows.length}" role="img" shape-rendering="crispEdges"><title>${title}</title><path d="${path}"/></svg>`;
};
