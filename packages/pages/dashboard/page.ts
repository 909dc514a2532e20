import { permits, type Reader } from "@accountlink/core/accounts";
import type { Tier } from "@accountlink/core/keys";
import type { HttpResponse } from "@accountlink/http/for_pages";
import { Array } from "effect";
import { formTo, Html, html, type Problem, type ReachedPlatforms, to, type Wording } from "../html.ts";
import type { Language } from "../languages/mod.ts";
import { documentHtml, documentResponse } from "../page.ts";
import { noticeHtml } from "./look/notice.ts";
import { problemSummary, type Refused } from "./look/refused.ts";
import { partIn, plain, say } from "./look/say.ts";
import { may, paths } from "./paths.ts";
import { icons, isForPrograms, pointing, type SectionName, sections } from "./sections.ts";

const groups = Object.values(
  Array.groupBy(Object.keys(sections) as ReadonlyArray<SectionName>, (name) => sections[name].group),
);

export interface Page {
  /** If left out, the status of `refused`, or 200. */
  readonly status?: number;
  readonly title: string | Html;
  /** Which of several lists or communities the page is about, for the title of its tab. */
  readonly within?: string | Html | false;
  /** Whether the texts of the page are translated. If left out, all pages are, except the pages for programs. */
  readonly isWorded?: boolean;
  readonly section: SectionName;
  readonly content: Html;
  /** Why a form of this page was refused. The messages stand above the content. */
  readonly refused?: Refused | null;
  /** Wrong values in the query of the page, which only their fields tell. */
  readonly problems?: ReadonlyArray<Problem>;
  /** The labels of the fields that `refused` names. */
  readonly labels?: Readonly<Record<string, string | Html>>;
  /** Stands above the content in place of the notice that the URL names. */
  readonly notice?: Html | null;
  /** The name of the list that the page is about, for the notice that the URL names. */
  readonly list?: Html;
  /** After how many seconds a browser without a script loads the page again. */
  readonly refreshSeconds?: number;
  /** Where the focus is when the page opens, see `focusOn`. */
  readonly focus?: string | undefined;
  /** Whether the page answers a form that sent data. */
  readonly isPosted?: boolean;
}

export interface Visitor {
  readonly account: { readonly name: string; readonly title: string | Html; readonly tier: Tier };
  readonly signIn: { readonly chatId: string };
  /** The user's role; the pages show only actions that the role allows. */
  readonly role: Reader["role"];
  readonly scopes: Reader["scopes"];
  readonly userName: string;
  /** Whether the account has keys or webhooks, without which some sections are empty. */
  readonly hasPrograms: boolean;
  /** Whether the user is a member of other accounts too. */
  readonly hasChoice: boolean;
  /** The CSRF token. `formTo` adds it to every form that sends data. */
  readonly csrf: string;
  /** The name of the notice about the last action, as the URL has it. */
  readonly done: unknown;
  readonly platforms: ReachedPlatforms;
}

/** How a page is worded: in the language of its reader, and in English where the page has no other. */
interface PageWording {
  readonly language: Pick<Language, "tag" | "dir">;
  readonly reader: Wording;
  readonly english: Wording;
}

const policy = ["script-src 'self'", "connect-src 'self'", "img-src data:", "form-action 'self'"];

export const pageResponse = (
  page: Page,
  visitor: Visitor,
  wording: PageWording,
  footer: Html,
  basePath: string,
): HttpResponse => {
  const source = documentOf(page, visitor, wording, footer).at({
    basePath,
    csrf: visitor.csrf,
    wording: wording.reader,
    reader: visitor,
    platforms: visitor.platforms,
    problems: [...(page.refused?.problems ?? []), ...(page.problems ?? [])],
    focus: page.focus,
    isPosted: page.isPosted,
  });
  const response = documentResponse(page.status ?? 200, source, wording.language, policy);
  const retryAfter = page.refused?.retryAfter;
  return retryAfter === undefined ? response : response.withHeaders({ "retry-after": String(retryAfter) });
};

const documentOf = (page: Page, visitor: Visitor, wording: PageWording, footer: Html): Html => {
  const { title, within, section, content, refused = null, labels = {}, notice, list, refreshSeconds } = page;
  const { isWorded = sections[section].group !== "keys" } = page;
  const top = refused === null ? (notice ?? noticeHtml(visitor.done, list)) : problemSummary(refused, labels);
  const { language, english } = wording;
  const isForeign = !isWorded && language.tag !== "en";
  const of = (part: Html): Html => (isForeign ? partIn(english, part) : part);
  const marked = isForeign ? html` lang="en" dir="ltr"` : null;
  const head = html`<meta name="description" content="${plain(say("frame.description"))}">
${refreshSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`}
<title${marked}>${of(html`${plain(title)}${within ? html` · ${plain(within)}` : null}`)} – accountlink</title>
<script type="module" src="${to(paths.script)}"></script>`;
  return documentHtml(
    language,
    paths.style,
    head,
    html`<a class="button skip" href="#content">${say("frame.skip")}</a>
${header(section, visitor)}
<main id="content" tabindex="-1"${marked}>
${of(html`<h1>${title}</h1>
${signedOut}
${top}${content}`)}
</main>
${footer}`,
  );
};

const inOtherTab = {
  a: (content: Html) => html`<a href="${to(`${paths.overview}/sign-in`)}" target="_blank">${content}</a>`,
};

/** Shown by the script after the sign-in has ended: in place of sending a form, and where it no longer renews numbers. */
const signedOut = html`<div class="notice bad" id="signed-out" role="alert" tabindex="-1" hidden><p>${say("refused.signed_out", inOtherTab)}</p></div>
<div class="notice bad" id="stopped" role="alert" hidden><p>${say("refused.stopped", inOtherTab)}</p></div>`;

const header = (
  section: SectionName,
  { account, signIn, role, scopes, hasPrograms, userName, hasChoice }: Visitor,
): Html => html`
<header>
<p class="brand"><a href="${to(paths.overview)}">${mark}accountlink</a></p>
${may(paths.links, finder)}
<details class="menu">
<summary>${say("frame.menu")}</summary>
<nav aria-label="${plain(say("frame.navigation"))}">
${groups
  .map((names) =>
    names.filter(
      (name) =>
        permits({ role, scopes }, sections[name].role) &&
        (hasPrograms || name === section || !isForPrograms(name)),
    ),
  )
  .filter((names) => names.length > 0)
  .map((names) => html`<ul role="list">${names.map((name) => entry(name, section))}</ul>`)}
</nav>
</details>
<div class="visitor" data-of="${whose(account.name, signIn.chatId)}">
<p><strong>${userName}</strong> <small>${account.title} · ${say(`frame.tier.${account.tier}`)}</small>${
  hasChoice ? html` <a href="${to(paths.chooseAccount)}">${say("frame.change_account")}</a>` : null
}</p>
${formTo(paths.signOut)`<button class="button quiet small">${say("frame.sign_out")}</button>`}
</div>
</header>`;

/** Tells the script whose page this is. Takes out the prefix of generated names, which no page shows. */
const whose = (account: string, chatId: string): string => `${chatId} ${account.replace("chat:", "")}`;

const finder = html`<form method="get" action="${to(paths.links)}" class="find" role="search" aria-label="${plain(say("frame.every_list"))}">
<label for="find" class="unseen">${say("frame.find")}</label>
<input type="search" id="find" name="q" placeholder="${plain(say("frame.find"))}" autocomplete="off" required>
</form>`;

const entry = (section: SectionName, current: SectionName): Html => {
  const { path } = sections[section];
  return html`<li><a href="${to(path)}"${section === current ? html` aria-current="page"` : null}><svg class="icon${pointing.has(section) ? " points" : ""}"
    viewBox="0 0 24 24" aria-hidden="true">${new Html(icons[section])}</svg>${say(`menu.${section}`)}</a></li>`;
};

const mark = new Html(
  `<svg class="icon mark" viewBox="0 0 24 24" aria-hidden="true"><rect x="2" y="8" width="12" height="8" rx="4"/><rect x="10" y="8" width="12" height="8" rx="4"/></svg>`,
);
