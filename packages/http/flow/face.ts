/**
 * Accounts as the pages of the flow show them: a picture and a name.
 */
import type { FlowView, ShownAccount } from "@accountlink/core";
import { type Html, html } from "./html.ts";
import { hasPlainOrigin } from "./page.ts";

export interface Face {
  readonly name: string;
  readonly detail: string;
  readonly picture: string | null;
}

export const chatFace = (account: FlowView["chat"]): Face | null =>
  account === null ? null : faceOf(account, account.profile?.avatar ?? null);

export const gameFace = (account: FlowView["game"]): Face | null =>
  account === null ? null : faceOf(account, account.profile?.avatar?.headshot ?? null);

type Named = { readonly username: string | null; readonly displayName: string | null };

const faceOf = ({ id, profile }: ShownAccount<string, Named>, picture: string | null): Face => {
  const username = profile?.username ?? null;
  return {
    name: profile?.displayName ?? username ?? `Account ${id}`,
    detail: username === null ? `ID ${id}` : `@${username} · ID ${id}`,
    picture: picture !== null && hasPlainOrigin(picture) ? picture : null,
  };
};

export const faceHtml = ({ name, detail, picture }: Face): Html => html`
<div class="account">
${
  picture === null
    ? html`<span class="face" aria-hidden="true">${firstLetter(name)}</span>`
    : html`<img class="face" src="${picture}" alt="" width="48" height="48">`
}
<p><strong>${name}</strong> <small>${detail}</small></p>
</div>`;

const firstLetter = (name: string): string => (/./su.exec(name)?.[0] ?? "").toUpperCase();
