/** The HTML document of every page for users, its headers and its content security policy. */
import { type HttpResponse, privateHeaders, textResponse } from "@accountlink/http/for_pages";
import { type Html, html, to } from "./html.ts";
import type { Language } from "./languages/language.ts";

export const stylePath = "/verify/style.css";

/** The style sheet that counts down the time left, for the query parameter `seconds`. */
export const countdownPath = "/verify/countdown.css";

/** A page, and the URLs that its content security policy must allow. */
export interface Page {
  /** 200 if left out. */
  readonly status?: number;
  readonly title: string;
  readonly content: Html;
  readonly pictures?: ReadonlyArray<string>;
  /** The CSRF token of the reader, for the forms of the page. */
  readonly csrf?: string;
  /** The URL on another site to which the form of this page redirects the browser, or null. */
  readonly redirect?: string | null;
  /** The path of the page's script. The page also works without it. */
  readonly script?: string;
  /**
   * The path and query of the page that opens instead when the reader chooses another language. If left out, it is the
   * page itself, and the start for the answer to a form.
   */
  readonly address?: string;
}

export const pageResponse = (
  page: Page,
  language: Language,
  footer: Html,
  basePath: string,
): HttpResponse => {
  const { script, csrf = "" } = page;
  const head = script === undefined ? null : html`<script type="module" src="${to(script)}"></script>`;
  const source = documentOf(page, language, footer, head).at({ basePath, csrf });
  return textResponse(page.status ?? 200, source, htmlType, {
    ...privateHeaders,
    "content-language": language.tag,
    vary: "Accept-Language, Cookie",
    "content-security-policy": policyOf(page),
  });
};

export const htmlType = "text/html; charset=utf-8";

/**
 * Renders the complete document of a page.
 *
 * @param head additional elements of its head
 */
export const documentOf = (
  { title, content }: Page,
  { tag, dir }: Pick<Language, "tag" | "dir">,
  footer: Html,
  head: Html | null = null,
): Html => html`<!doctype html>
<html lang="${tag}" dir="${dir}">
<head>
${head}
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to(stylePath)}">
</head>
<body>
<main>
${content}
</main>
${footer}
</body>
</html>
`;

/** Whether a policy can name the origin of the URL. In a valid host such as `a;b`, the semicolon ends a directive. */
export const hasPlainOrigin = (url: string): boolean =>
  URL.canParse(url) && /^https?:\/\/[\w.-]+(?::\d+)?$/.test(new URL(url).origin);

/** What the policy lists to allow this redirect: the origin, or its scheme if a policy cannot name the origin. */
const targetOf = (redirect: string): string => {
  const { origin, protocol } = new URL(redirect);
  return hasPlainOrigin(redirect) ? origin : protocol;
};

const originsOf = (urls: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(urls.filter(hasPlainOrigin).map((url) => new URL(url).origin));

const policyOf = ({ pictures = [], redirect = null, script }: Page): string => {
  const formTargets = redirect === null ? ["'self'"] : ["'self'", targetOf(redirect)];
  return [
    "default-src 'none'",
    ...(script === undefined ? [] : ["script-src 'self'"]),
    "style-src 'self'",
    `img-src ${["data:", ...originsOf(pictures)].join(" ")}`,
    // This directive must list the target of the redirect after the form, because browsers apply it to redirects too.
    `form-action ${formTargets.join(" ")}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
};
