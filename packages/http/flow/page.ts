/**
 * What every page of the flow is in: its document, its style, and the policy that browsers hold it to.
 */
import { HttpServerResponse } from "effect/http";
import { type Html, html } from "./html.ts";

/** Where the style is. */
export const stylePath = "/verify/style.css";

/** A page, what it may load, and where it may send its user. */
export interface Page {
  readonly status: number;
  readonly title: string;
  readonly content: Html;
  /** The addresses of its pictures. */
  readonly pictures?: ReadonlyArray<string>;
  /** Where its form leads in the end, when not back to us. */
  readonly redirect?: string | null;
}

/**
 * Answers with a page.
 *
 * @param footer what stands at its end
 */
export const pageResponse = (page: Page, footer: Html): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(documentOf(page, footer).source, {
    status: page.status,
    contentType: "text/html; charset=utf-8",
    headers: { ...privateHeaders, "content-security-policy": policyOf(page) },
  });

/** For everything that the flow answers: nothing of it is kept, framed, or told to the next site. */
export const privateHeaders = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
};

const documentOf = ({ title, content }: Page, footer: Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylePath}">
</head>
<body>
<main>
${content}
</main>
${footer}
</body>
</html>
`;

/** Whether a policy can name the origin of an address. That of a host like `a;b`, which is one, would end a directive. */
export const hasPlainOrigin = (url: string): boolean =>
  URL.canParse(url) && /^https?:\/\/[\w.-]+(?::\d+)?$/.test(new URL(url).origin);

/** What a policy calls the place that a redirect leads to: its origin, or all of its scheme. */
const targetOf = (redirect: string): string => {
  const { origin, protocol } = new URL(redirect);
  return hasPlainOrigin(redirect) ? origin : protocol;
};

const originsOf = (urls: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(urls.filter(hasPlainOrigin).map((url) => new URL(url).origin));

const policyOf = ({ pictures = [], redirect = null }: Page): string => {
  const formTargets = redirect === null ? ["'self'"] : ["'self'", targetOf(redirect)];
  return [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${["data:", ...originsOf(pictures)].join(" ")}`,
    // A browser holds the redirect that answers a form to this too.
    `form-action ${formTargets.join(" ")}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
};
