/** The pages of the OAuth servers: the choice of a user, and errors that must not be sent to the client. */
import { Html, html } from "@accountlink/pages/html";
import { Effect } from "effect";
import { Digest } from "effect/crypto";
import { Base64 } from "effect/encoding";
import { HttpServerResponse } from "effect/http";
import type { Platform } from "../simulation.ts";
import { connectionsScope } from "../wire.ts";
import type { SignInUser } from "./oauth_server.ts";

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
        "content-security-policy":
          `default-src 'none'; style-src 'sha256-${styleHash}'; img-src http: https: data:; ` +
          `form-action ${formTargets}; base-uri 'none'; frame-ancestors 'none'`,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      },
    });

  return {
    /**
     * @param returnsTo the origin of the OAuth client, to which the browser returns after the choice
     * @param scopes what the client asks for
     */
    choice: (users: ReadonlyArray<SignInUser>, returnsTo: string, scopes: ReadonlyArray<string>) =>
      page(
        200,
        `Sign in to the ${platform} platform`,
        choice(users, returnsTo, scopes),
        `'self' ${returnsTo}`,
      ),
    /** A page whose forms may be sent only to the platform itself. */
    own: (title: string, content: Html) => page(200, title, content, "'self'"),
    missing: (problem: string) => page(404, "This page does not exist", html`<p>${problem}</p>`, "'none'"),
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
  scopes: ReadonlyArray<string>,
): Html => html`<p>No account here is real. Choose who you want to be; then you go on to <strong>${returnsTo}</strong>.</p>
<form method="post">
${scopes.includes(connectionsScope) ? connectionsChoice : null}
<ul>
${users.map(entry)}
</ul>
<button class="deny" name="deny" value="1">Cancel, and deny the sign-in</button>
</form>`;

const connectionsChoice = html`<p>It also asks which accounts of the game platform you have connected
(<code>${connectionsScope}</code>).</p>
<p class="line"><label><input type="checkbox" name="refuse" value="${connectionsScope}"> Do not tell it</label></p>`;

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

/** Each platform has its own colour, so that nobody confuses them. */
const style = `
:root { color-scheme: light dark; --text: #1b1b20; --soft: #5a5a66; --line: #8a8a96; --ground: #f6f6f9; --card: #fff; }
body.chat { --mark: #4650c8; }
body.game { --mark: #0a7048; }
@media (prefers-color-scheme: dark) {
  :root { --text: #ececf1; --soft: #b0b0bd; --line: #777785; --ground: #17171c; --card: #212128; }
  body.chat { --mark: #a9b1ff; }
  body.game { --mark: #6fd6a7; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--text);
font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 32rem; margin: 0 auto; }
.mark { display: inline-block; margin: 0; padding: 0 .6rem; border: 2px dashed var(--mark);
border-radius: .4rem; color: var(--mark); font-weight: 600; }
h1 { margin: .75rem 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
ul { display: grid; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
button { display: flex; align-items: center; gap: .75rem; width: 100%; min-height: 3.5rem;
padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--card);
color: inherit; font: inherit; text-align: start; cursor: pointer; }
button:hover { border-color: var(--mark); }
button:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
.face { display: grid; place-items: center; flex: none; width: 2.5rem; height: 2.5rem;
border: 1px solid var(--line); border-radius: 50%; object-fit: cover; font-weight: 600; }
.name { min-width: 0; font-weight: 600; }
small { display: block; color: var(--soft); font-weight: 400; }
.line { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin: .5rem 0; }
.line button, .button { width: auto; min-height: 2.75rem; padding: .25rem .75rem;
border: 1px solid var(--line); border-radius: .6rem; background: var(--card); color: inherit; font: inherit; text-decoration: none; }
.button { display: inline-flex; align-items: center; }
.line input:not([type=checkbox]), .line textarea, select { min-height: 2.75rem; max-width: 100%;
padding: .25rem .5rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--card); color: inherit; font: inherit; }
.messages { display: grid; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
.messages li { padding: .5rem .75rem; border-inline-start: 4px solid var(--mark); border-radius: .4rem; background: var(--card); }
.messages p { margin: .25rem 0; }
mark { background: none; color: var(--mark); font-weight: 600; }
.deny { justify-content: center; min-height: 2.75rem; background: none; }
`;
