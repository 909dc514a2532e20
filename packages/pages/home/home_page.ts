/** The first page of the service: it introduces the service and links to its parts. */
import { type Html, html } from "../html.ts";
import type { Page } from "../page.ts";
import type { PageSettingsShape } from "../page_settings.ts";

export const homePage = (settings: PageSettingsShape): Page => ({
  status: 200,
  title: "accountlink",
  content: html`
<h1>accountlink</h1>
<p>Communities on ${settings.chatName} see which account on ${settings.gameName} belongs to which member, because the members have shown both.</p>
${picture(settings)}
${settings.withoutSignIns === true ? null : signInWays}
<h2>For developers</h2>
<ul class="ways" role="list">
<li><a href="/docs"><strong>API reference</strong> <small>Look up links from bots and games</small></a></li>
</ul>`,
});

const picture = ({ chatName, gameName }: PageSettingsShape): Html => html`
<figure>
<svg viewBox="0 0 300 70" role="img" aria-labelledby="flow"><title id="flow">You sign in to ${chatName}, then to ${gameName}. The two accounts are then linked, and the community sees it.</title>
<g fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"><circle cx="35" cy="28" r="16"/><circle cx="35" cy="24" r="5"/><path d="M26 38a10 10 0 0 1 18 0"/>
<rect x="249" y="14" width="32" height="28" rx="8"/><path d="M257 28h8m-4-4v8m10-6h.1m4 4h.1"/>
<g class="good"><rect x="120" y="20" width="34" height="16" rx="8"/><rect x="146" y="20" width="34" height="16" rx="8"/></g>
<path stroke-dasharray="3 5" d="M60 28h52m76 0h52"/></g>
<g fill="currentColor" font-size="11" text-anchor="middle"><text x="35" y="62">1. Sign in</text><text x="150" y="62">3. Linked</text><text x="265" y="62">2. Sign in</text></g></svg>
</figure>`;

const signInWays = html`<h2>For players</h2>
<ul class="ways" role="list">
<li><a href="/go"><strong>Enter a code</strong> <small>A game shows you one</small></a></li>
<li><a href="/me"><strong>Your data</strong> <small>See, download or remove what communities know about you</small></a></li>
</ul>
<h2>For owners and moderators</h2>
<ul class="ways" role="list">
<li><a href="/dashboard"><strong>Dashboard</strong> <small>Links, roles, alts, API keys and usage</small></a></li>
</ul>`;
