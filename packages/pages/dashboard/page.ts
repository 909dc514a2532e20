import { allows, type MemberRole } from "@accountlink/core/accounts";
import type { Tier } from "@accountlink/core/keys";
import { type Html, html } from "../html.ts";
import { csrfField } from "./look/field.ts";
import { icon, mark } from "./look/icons.ts";
import { may, paths, roleOfPage } from "./paths.ts";

const sections = {
  overview: "Overview",
  communities: "Communities",
  links: "Links",
  imports: "Import",
  keys: "Keys",
  webhooks: "Webhooks",
  usage: "Usage",
  alts: "Alts",
  events: "Events",
  audit: "Audit log",
  trial: "Try it",
  preview: "Preview",
  team: "Team",
  account: "Account",
} as const;

type Section = keyof typeof sections;

/** Groups of sections in the navigation; all other sections come last. */
const grouped: ReadonlyArray<ReadonlyArray<string>> = [
  ["overview", "communities", "links", "alts", "imports"],
  ["keys", "usage", "events", "webhooks", "trial"],
];

const allSections = Object.keys(sections) as ReadonlyArray<Section>;

const groups: ReadonlyArray<ReadonlyArray<Section>> = [
  ...grouped.map((group) => allSections.filter((name) => group.includes(name))),
  allSections.filter((name) => !grouped.some((group) => group.includes(name))),
];

export interface Page {
  readonly status: number;
  readonly title: string;
  readonly section: Section;
  /** Seconds after which the browser reloads the page. */
  readonly refresh?: number;
  readonly content: Html;
}

export interface Visitor {
  readonly account: { readonly name: string; readonly tier: Tier };
  /** The user's role; the pages show only actions that the role allows. */
  readonly role: MemberRole;
  readonly userName: string;
  /** Whether the user is a member of other accounts too. */
  readonly hasChoice: boolean;
  /** The hidden field that every form sends. */
  readonly csrf: string;
  readonly platforms: PlatformNames;
}

export interface PlatformNames {
  readonly chat: string;
  readonly game: string;
}

export const documentOf = (
  { title, section, content, refresh }: Page,
  visitor: Visitor,
  footer: Html,
): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="description" content="The dashboard of accountlink: API keys, usage and audit log.">
<title>${title} – accountlink</title>${
  refresh === undefined
    ? null
    : html`
<meta http-equiv="refresh" content="${refresh}">`
}
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${paths.style}">
<script type="module" src="${paths.script}"></script>
</head>
<body>
<a class="button skip" href="#content">Skip to the content</a>
${header(section, visitor)}
<main id="content" tabindex="-1">
<h1>${title}</h1>
${content}
</main>
${footer}
</body>
</html>
`;

const header = (section: Section, { account, role, userName, hasChoice, csrf }: Visitor): Html => html`
<header>
<p class="brand"><a href="${paths.overview}">${mark}accountlink</a></p>
${may(role, paths.links, finder)}
<details class="menu">
<summary>Menu</summary>
<nav aria-label="Dashboard">
${groups
  .map((names) => names.filter((name) => allows(role, roleOfPage(paths[name]))))
  .filter((names) => names.length > 0)
  .map((names) => html`<ul role="list">${names.map((name) => entry(name, sections[name], section))}</ul>`)}
</nav>
</details>
<div class="visitor">
<p><strong>${userName}</strong> <small>${account.name} · ${account.tier}</small>${hasChoice ? html` <a href="${paths.chooseAccount}">Change account</a>` : null}</p>
<form method="post" action="${paths.signOut}">${csrfField(csrf)}<button class="button quiet small">Sign out</button></form>
</div>
</header>`;

const finder = html`<form method="get" action="${paths.links}" class="find" role="search" aria-label="Every list">
<label for="find" class="unseen">Search for a user</label>
<input type="search" id="find" name="q" placeholder="Search for a user" autocomplete="off" required>
</form>`;

const entry = (name: Section, label: string, current: Section): Html =>
  html`<li><a href="${paths[name]}"${name === current ? html` aria-current="page"` : null}>${icon(name)}${label}</a></li>`;
