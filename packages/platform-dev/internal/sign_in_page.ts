/**
 * The pages of the OAuth servers: which user to be, and what is wrong with a request that cannot be sent back.
 */
import { Effect } from "effect";
import { Digest } from "effect/crypto";
import { Base64 } from "effect/encoding";
import { HttpServerResponse } from "effect/http";
import type { Platform } from "../fault.ts";
import type { Person } from "./oauth_server.ts";
import { style } from "./sign_in_style.ts";

/** The pages of one platform. */
export interface Pages {
  /** @param returnsTo the origin that the choice leads back to */
  readonly choice: (
    people: ReadonlyArray<Person>,
    returnsTo: string,
  ) => HttpServerResponse.HttpServerResponse;
  /** Says what is wrong, with status 400. */
  readonly problem: (problem: string) => HttpServerResponse.HttpServerResponse;
}

export const makePages = Effect.fnUntraced(function* (
  platform: Platform,
): Effect.fn.Return<Pages, never, Digest.Digest> {
  const digest = yield* Digest.Digest;
  const styleHash = Base64.encode(yield* digest.digest(Digest.sha256, new TextEncoder().encode(style)));

  const page = (status: number, title: string, content: string, formTargets: string) =>
    HttpServerResponse.text(document(platform, title, content), {
      status,
      contentType: "text/html; charset=utf-8",
      headers: {
        // A browser holds the redirect that answers a form to this policy too.
        "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; img-src http: https: data:; form-action ${formTargets}; base-uri 'none'; frame-ancestors 'none'`,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      },
    });

  return {
    choice: (people, returnsTo) =>
      page(200, `Sign in to the ${platform} platform`, choice(people, returnsTo), `'self' ${returnsTo}`),
    problem: (problem) => page(400, "This sign-in cannot go on", `<p>${escaped(problem)}</p>`, "'none'"),
  };
});

const document = (platform: Platform, title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – dev platform</title>
<link rel="icon" href="data:,">
<style>${style}</style>
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

// Without an action the form goes to the page's own address, with its query.
const choice = (
  people: ReadonlyArray<Person>,
  returnsTo: string,
): string => `<p>No account here is real. Choose who you want to be; then you go on to <strong>${escaped(returnsTo)}</strong>.</p>
<form method="post">
<ul>
${people.map(entry).join("\n")}
</ul>
<button class="deny" name="deny" value="1">Cancel, and deny the sign-in</button>
</form>`;

const entry = ({ id, username, displayName, picture }: Person): string => {
  const name = displayName ?? username ?? id;
  const details = username === null ? id : `@${username} · ${id}`;
  const face =
    picture === null
      ? `<span class="face" aria-hidden="true">${escaped(firstLetter(name))}</span>`
      : `<img class="face" src="${escaped(picture)}" alt="" width="40" height="40" loading="lazy">`;
  return `<li><button name="user" value="${escaped(id)}">${face}<span class="name">${escaped(name)} <small>${escaped(details)}</small></span></button></li>`;
};

const firstLetter = (name: string): string => (/./su.exec(name)?.[0] ?? "").toUpperCase();

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
