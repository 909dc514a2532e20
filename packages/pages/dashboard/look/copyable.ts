/** Text with a copy button, which appears only if scripts run. */
import { type Html, html } from "../../html.ts";

/**
 * @param id unique on the page
 * @param name the kind of text, such as "key"
 */
export const copyable = (id: string, name: string, text: string): Html => html`
<div class="copyable">
<pre id="${id}">${text}</pre>
<button type="button" class="button quiet small" data-copies="${id}" hidden>Copy <span class="unseen">the ${name}</span></button>
</div>`;
