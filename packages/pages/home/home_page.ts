/** The first page of the service: it introduces the service and links to its parts. */
import { html } from "../html.ts";
import type { Page } from "../page.ts";
import type { PageSettingsShape } from "../page_settings.ts";

export const homePage = ({ chatName, gameName, withoutSignIns = false }: PageSettingsShape): Page => ({
  status: 200,
  title: "Which player is which member?",
  content: html`
<h1>Which player is which member?</h1>
<p>Communities use this service to link the accounts of their members on ${chatName} with those on ${gameName}. You decide which communities know yours.</p>
<ul class="ways" role="list">
${withoutSignIns ? null : signInWays}
<li><a href="/docs"><strong>For developers</strong> <small>API reference</small></a></li>
</ul>`,
});

const signInWays = html`<li><a href="/go"><strong>Enter a code</strong> <small>A game shows you one</small></a></li>
<li><a href="/me"><strong>Your links</strong> <small>See which communities know your accounts, and remove links</small></a></li>
<li><a href="/dashboard"><strong>For owners of communities</strong> <small>Links, API keys and usage</small></a></li>`;
