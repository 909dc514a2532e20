/** The verification pages as users see them, with made-up accounts. */
import { type Html, html } from "../../html.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";

export interface PreviewedState {
  readonly name: string;
  readonly title: string;
}

export interface PreviewGroup {
  readonly label: string;
  readonly states: ReadonlyArray<PreviewedState>;
}

/**
 * @param shown the name of the state that is shown
 * @param document the complete page, as users receive it
 */
export const previewPage = (
  groups: ReadonlyArray<PreviewGroup>,
  shown: PreviewedState,
  document: Html,
): Page => ({
  title: "Preview",
  section: "preview",
  content: html`
<p>The pages that users see while they verify. The accounts are examples, and the buttons do nothing.</p>
<div class="preview">
<nav aria-label="Pages of the verification">
${groups.map((group) => groupHtml(group, shown))}
</nav>
<iframe id="shown" title="${shown.title}" srcdoc="${document.source}" sandbox></iframe>
</div>`,
});

const groupHtml = ({ label, states }: PreviewGroup, shown: PreviewedState): Html => html`
<details${states.some(({ name }) => name === shown.name) ? html` open` : null}>
<summary><h2>${label}</h2></summary>
<ul role="list">
${states.map(
  ({ name, title }) =>
    html`<li><a href="${withQuery(paths.preview, { state: name })}#shown"${name === shown.name ? html` aria-current="page"` : null}>${title}</a></li>`,
)}
</ul>
</details>`;
