import type { FlowAccount, FlowView } from "@accountlink/core/flow";
import { type Html, html, to } from "./html.ts";
import { type Language, own } from "./languages/language.ts";
import { hasPlainOrigin } from "./page.ts";

export interface AccountCard {
  readonly name: string;
  /** The first letter of the name, in place of a picture. */
  readonly letter: string;
  readonly detail: Html;
  readonly picture: string | null;
}

export const chatCard = (account: NonNullable<FlowView["chat"]>, language: Language): AccountCard =>
  cardOf(account, account.profile?.avatar ?? null, language);

export const gameCard = (account: NonNullable<FlowView["game"]>, language: Language): AccountCard =>
  cardOf(account, account.profile?.avatar?.headshot ?? null, language);

type Named = { readonly username: string | null; readonly displayName: string | null };

const cardOf = (
  { id, profile }: FlowAccount<string, Named>,
  picture: string | null,
  language: Language,
): AccountCard => {
  const username = profile?.username ?? null;
  const name = profile?.displayName ?? username ?? language.text("account.unnamed", { id });
  return {
    name,
    letter: language.capitalised(/./su.exec(name)?.[0] ?? ""),
    detail:
      username === null
        ? language.html("account.id", { id })
        : language.html("account.name_and_id", { username: own(`@${username}`), id }),
    picture: picture !== null && hasPlainOrigin(picture) ? picture : null,
  };
};

export const cardHtml = ({ name, letter, detail, picture }: AccountCard): Html => html`
<div class="account">
${
  picture === null
    ? html`<span class="picture" aria-hidden="true">${letter}</span>`
    : html`<img class="picture" src="${to(picture)}" alt="" width="48" height="48">`
}
<p><strong dir="auto">${name}</strong> <small>${detail}</small></p>
</div>`;
