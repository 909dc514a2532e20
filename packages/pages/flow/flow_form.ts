import type { FlowView } from "@accountlink/core/flow";
import { type Html, html, to } from "../html.ts";

/** A form of the flow, with the token of its page. */
export const form = (action: string, { csrf, sid }: FlowView, button: Html): Html => html`
<form method="post" action="${to(action)}">
<input type="hidden" name="csrf" value="${csrf}">
${sid === null ? null : html`<input type="hidden" name="sid" value="${sid}">`}
${button}
</form>`;
