import type { FlowAccount, FlowView } from "@accountlink/core/flow";
import { type Html, html } from "./html.ts";
import { hasPlainOrigin } from "./page.ts";

export interface AccountCard {
  readonly name: string;
  readonly detail: string;
  readonly picture: string | null;
}

export const chatCard = (account: NonNullable<FlowView["chat"]>): AccountCard =>
  cardOf(account, account.profile?.avatar ?? null);

export const gameCard = (account: NonNullable<FlowView["game"]>): AccountCard =>
  cardOf(account, account.profile?.avatar?.headshot ?? null);

type Named = { readonly username: string | null; readonly displayName: string | null };

const cardOf = ({ id, profile }: FlowAccount<string, Named>, picture: string | null): AccountCard => {
  const username = profile?.username ?? null;
  return {
    name: profile?.displayName ?? username ?? `Account ${id}`,
    detail: username === null ? `ID ${id}` : `@${username} · ID ${id}`,
    picture: picture !== null && hasPlainOrigin(picture) ? picture : null,
  };
};

export const cardHtml = ({ name, detail, picture }: AccountCard): Html => html`
<div class="account">
${
  picture === null
    ? html`<span class="picture" aria-hidden="true">${firstLetter(name)}</span>`
    : html`<img class="picture" src="${picture}" alt="" width="48" height="48">`
}
<p><strong>${name}</strong> <small>${detail}</small></p>
</div>`;

const firstLetter = (name: string): string => (/./su.exec(name)?.[0] ?? "").toUpperCase();
