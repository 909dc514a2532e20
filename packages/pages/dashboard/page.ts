import { allows, type MemberRole } from "@accountlink/core/accounts";
import type { Tier } from "@accountlink/core/keys";
import { type HttpResponse, privateHeaders, textResponse } from "@accountlink/http/for_pages";
import { Array } from "effect";
import { formTo, Html, html, to } from "../html.ts";
import { htmlType } from "../page.ts";
import type { PlatformNames } from "./look/names.ts";
import { noticeHtml } from "./look/notice.ts";
import { problemSummary, type Refused } from "./look/refused.ts";
import { may, paths } from "./paths.ts";
import { icons, isForPrograms, type SectionName, sections } from "./sections.ts";

const groups = Object.values(
  Array.groupBy(Object.keys(sections) as ReadonlyArray<SectionName>, (name) => sections[name].group),
);

export interface Page {
  /** If left out, the status of `refused`, or 200. */
  readonly status?: number;
  readonly title: string;
  readonly section: SectionName;
  readonly content: Html;
  /** Why a form of this page was refused. The messages stand above the content. */
  readonly refused?: Refused | null;
  /** The labels of the fields that `refused` names. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Stands above the content in place of the notice that the URL names. */
  readonly notice?: Html | null;
  /** After how many seconds a browser without a script loads the page again. */
  readonly refreshSeconds?: number;
}

export interface Visitor {
  readonly account: { readonly title: string; readonly tier: Tier };
  /** The user's role; the pages show only actions that the role allows. */
  readonly role: MemberRole;
  readonly userName: string;
  /** Whether the account has keys or webhooks, without which some sections are empty. */
  readonly hasPrograms: boolean;
  /** Whether the user is a member of other accounts too. */
  readonly hasChoice: boolean;
  /** The CSRF token. `formTo` adds it to every form that sends data. */
  readonly csrf: string;
  /** The name of the notice about the last action, as the URL has it. */
  readonly done: unknown;
  readonly platforms: PlatformNames;
}

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const pageResponse = (page: Page, visitor: Visitor, footer: Html, basePath: string): HttpResponse => {
  const source = documentOf(page, visitor, footer).at({ basePath, csrf: visitor.csrf });
  const headers = { ...privateHeaders, "content-security-policy": policy };
  return textResponse(page.status ?? 200, source, htmlType, headers);
};

const documentOf = (page: Page, visitor: Visitor, footer: Html): Html => {
  const { title, section, content, refused = null, labels = {}, notice, refreshSeconds } = page;
  const top = refused === null ? (notice ?? noticeHtml(visitor.done)) : problemSummary(refused, labels);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="description" content="The dashboard of accountlink: API keys, usage and audit log.">
${
  refreshSeconds === undefined
    ? null
    : html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>
`
}<title>${title} – accountlink</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to(paths.style)}">
<script type="module" src="${to(paths.script)}"></script>
</head>
<body>
<a class="button skip" href="#content">Skip to the content</a>
${header(section, visitor)}
<main id="content" tabindex="-1">
<h1>${title}</h1>
${
  top &&
  html`
${top}`
}${content}
</main>
${footer}
</body>
</html>
`;
};

const header = (
  section: SectionName,
  { account, role, hasPrograms, userName, hasChoice }: Visitor,
): Html => html`
<header>
<p class="brand"><a href="${to(paths.overview)}">${mark}accountlink</a></p>
${may(role, paths.links, finder)}
<details class="menu">
<summary>Menu</summary>
<nav aria-label="Dashboard">
${groups
  .map((names) =>
    names.filter(
      (name) =>
        allows(role, sections[name].role) && (hasPrograms || name === section || !isForPrograms(name)),
    ),
  )
  .filter((names) => names.length > 0)
  .map((names) => html`<ul role="list">${names.map((name) => entry(name, section))}</ul>`)}
</nav>
</details>
<div class="visitor">
<p><strong>${userName}</strong> <small>${account.title} · ${account.tier}</small>${
  hasChoice ? html` <a href="${to(paths.chooseAccount)}">Change account</a>` : null
}</p>
${formTo(paths.signOut)}<button class="button quiet small">Sign out</button></form>
</div>
</header>`;

const finder = html`<form method="get" action="${to(paths.links)}" class="find" role="search" aria-label="Every list">
<label for="find" class="unseen">Search for a user</label>
<input type="search" id="find" name="q" placeholder="Search for a user" autocomplete="off" required>
</form>`;

const entry = (section: SectionName, current: SectionName): Html => {
  const { path, name } = sections[section];
  return html`<li><a href="${to(path)}"${section === current ? html` aria-current="page"` : null}><svg class="icon"
    viewBox="0 0 24 24" aria-hidden="true">${new Html(icons[section])}</svg>${name}</a></li>`;
};

const mark = new Html(
  `<svg class="icon mark" viewBox="0 0 24 24" aria-hidden="true"><rect x="2" y="8" width="12" height="8" rx="4"/><rect x="10" y="8" width="12" height="8" rx="4"/></svg>`,
);
