/** The HTML document of every page for users, its headers and its content security policy. */
import { type HttpResponse, privateHeaders, textResponse } from "@accountlink/http/for_pages";
import { type Html, html, type Place, to } from "./html.ts";
import type { Language } from "./languages/language.ts";
import { plain } from "./said.ts";

export const stylePath = "/verify/style.css";

/** The style sheet that counts down the time left, for the query parameter `seconds`. */
export const countdownPath = "/verify/countdown.css";

/** A page, and the URLs that its content security policy must allow. */
export interface Page {
  /** 200 if left out. */
  readonly status?: number;
  readonly title: string | Html;
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

export const pageResponse = (page: Page, language: Language, footer: Html, place: Place): HttpResponse => {
  const { script, csrf = "" } = page;
  const head = script === undefined ? null : html`<script type="module" src="${to(script)}"></script>`;
  const source = documentOf(page, language, footer, head).at({ ...place, csrf });
  return documentResponse(page.status ?? 200, source, language, policyOf(page));
};

const htmlType = "text/html; charset=utf-8";

/** Makes the answer with a document. @param policy what its content security policy allows besides its own styles */
export const documentResponse = (
  status: number,
  source: string,
  { tag }: Pick<Language, "tag">,
  policy: ReadonlyArray<string>,
): HttpResponse =>
  textResponse(status, source, htmlType, {
    ...privateHeaders,
    "content-language": tag,
    vary: "Accept-Language, Cookie",
    "content-security-policy": [
      "default-src 'none'",
      "style-src 'self'",
      ...policy,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  });

/**
 * Renders a document.
 *
 * @param style the path of its style sheet
 * @param head the title and what else its head has
 */
export const documentHtml = (
  { tag, dir }: Pick<Language, "tag" | "dir">,
  style: string,
  head: Html,
  body: Html,
): Html => html`<!doctype html>
<html lang="${tag}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
${head}
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to(style)}">
</head>
<body>
${body}
</body>
</html>
`;

/**
 * Renders the complete document of a page.
 *
 * @param head additional elements of its head
 */
export const documentOf = (
  { title, content }: Page,
  language: Pick<Language, "tag" | "dir">,
  footer: Html,
  head: Html | null = null,
): Html =>
  documentHtml(
    language,
    stylePath,
    html`${head}<title>${plain(title)}</title>`,
    html`<main>
${content}
</main>
${footer}`,
  );

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

const policyOf = ({ pictures = [], redirect = null, script }: Page): ReadonlyArray<string> => {
  const formTargets = redirect === null ? ["'self'"] : ["'self'", targetOf(redirect)];
  return [
    ...(script === undefined ? [] : ["script-src 'self'"]),
    `img-src ${["data:", ...originsOf(pictures)].join(" ")}`,
    // This directive must list the target of the redirect after the form, because browsers apply it to redirects too.
    `form-action ${formTargets.join(" ")}`,
  ];
};
