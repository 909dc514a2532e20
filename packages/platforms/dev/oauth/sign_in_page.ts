/** The pages of the OAuth servers: the choice of a user, and errors that must not be sent to the client. */
import { Html, html } from "@accountlink/pages/html";
import { Effect } from "effect";
import { Digest } from "effect/crypto";
import { Base64 } from "effect/encoding";
import { HttpServerResponse } from "effect/http";
import type { Platform } from "../simulation.ts";
import type { SignInUser } from "./oauth_server.ts";
import { style } from "./sign_in_style.ts";

export type Pages = Effect.Success<ReturnType<typeof makePages>>;

export const makePages = Effect.fnUntraced(function* (platform: Platform) {
  const digest = yield* Digest.Digest;
  const styleHash = Base64.encode(yield* digest.digest(Digest.sha256, new TextEncoder().encode(style)));

  const page = (status: number, title: string, content: Html, formTargets: string) =>
    HttpServerResponse.text(document(platform, title, content).source, {
      status,
      contentType: "text/html; charset=utf-8",
      headers: {
        // Browsers also apply `form-action` to the redirect that answers a form.
        "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; img-src http: https: data:; form-action ${formTargets}; base-uri 'none'; frame-ancestors 'none'`,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      },
    });

  return {
    /** @param returnsTo the origin of the OAuth client, to which the browser returns after the choice */
    choice: (users: ReadonlyArray<SignInUser>, returnsTo: string) =>
      page(200, `Sign in to the ${platform} platform`, choice(users, returnsTo), `'self' ${returnsTo}`),
    /** A page whose forms may be sent only to the platform itself. */
    own: (title: string, content: Html) => page(200, title, content, "'self'"),
    problem: (problem: string) => page(400, "This sign-in cannot go on", html`<p>${problem}</p>`, "'none'"),
  };
});

const document = (platform: Platform, title: string, content: Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – dev platform</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body class="${platform}">
<main>
<p class="mark">Dev platform: ${platform}</p>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;

// A form without an action is sent to the page's own URL, including its query.
const choice = (
  users: ReadonlyArray<SignInUser>,
  returnsTo: string,
): Html => html`<p>No account here is real. Choose who you want to be; then you go on to <strong>${returnsTo}</strong>.</p>
<form method="post">
<ul>
${users.map(entry)}
</ul>
<button class="deny" name="deny" value="1">Cancel, and deny the sign-in</button>
</form>`;

const entry = ({ id, username, displayName, picture }: SignInUser): Html => {
  const name = displayName ?? username ?? id;
  const details = username === null ? id : `@${username} · ${id}`;
  const face =
    picture === null
      ? html`<span class="face" aria-hidden="true">${firstLetter(name)}</span>`
      : html`<img class="face" src="${picture}" alt="" width="40" height="40" loading="lazy">`;
  return html`<li><button name="user" value="${id}">${face}<span class="name">${name} <small>${details}</small></span></button></li>`;
};

const firstLetter = (name: string): string => (/./su.exec(name)?.[0] ?? "").toUpperCase();
