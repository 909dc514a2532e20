/**
 * The HTML document of every page of the dashboard.
 */
import type { Tier } from "@accountlink/core/keys";
import { type Html, html } from "@accountlink/html";
import { csrfField } from "./look/field.ts";
import { paths } from "./paths.ts";

/** The parts of the dashboard, in the order of its navigation. */
const sections = {
  overview: "Overview",
  keys: "Keys",
  usage: "Usage",
  alts: "Alts",
  audit: "Audit log",
  trial: "Try it",
  preview: "Preview",
  account: "Account",
} as const;

/** A page of the dashboard. */
export interface Page {
  readonly status: number;
  readonly title: string;
  /** Its entry of the navigation. */
  readonly section: keyof typeof sections;
  /** Everything below the heading. */
  readonly content: Html;
}

/** Who looks at a page. */
export interface Visitor {
  readonly account: { readonly name: string; readonly tier: Tier };
  /** The name of the signed-in user. */
  readonly userName: string;
  /** The field that every form sends. */
  readonly csrf: string;
}

/** The whole document. */
export const documentOf = (
  { title, section, content }: Page,
  visitor: Visitor,
  footer: Html,
): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="description" content="The dashboard of accountlink: API keys, usage and audit log.">
<title>${title} – accountlink</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${paths.style}">
<script type="module" src="${paths.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${header(section, visitor)}
<main id="content" tabindex="-1">
<h1>${title}</h1>
${content}
</main>
${footer}
</body>
</html>
`;

const header = (section: Page["section"], { account, userName, csrf }: Visitor): Html => html`
<header>
<p class="brand"><a href="${paths.overview}">accountlink</a></p>
<nav aria-label="Dashboard">
<ul role="list">
${Object.entries(sections).map(([name, label]) => entry(name as keyof typeof sections, label, section))}
</ul>
</nav>
<div class="visitor">
<p><strong>${userName}</strong> <small>${account.name} · ${account.tier}</small></p>
<form method="post" action="${paths.signOut}">${csrfField(csrf)}<button class="button quiet small">Sign out</button></form>
</div>
</header>`;

const entry = (name: keyof typeof sections, label: string, current: Page["section"]): Html =>
  html`<li><a href="${paths[name]}"${name === current ? html` aria-current="page"` : null}>${label}</a></li>`;
