import type { FlowAccount } from "@accountlink/core/flow";
import { Html, html, to } from "./html.ts";
import { own } from "./languages/language.ts";
import { hasPlainOrigin } from "./page.ts";
import { capitalised, plain, said } from "./said.ts";

/** An account of either platform, as pages show it. */
type ShownAccount = FlowAccount<
  string,
  {
    readonly username: string | null;
    readonly displayName: string | null;
    readonly avatar: string | null | { readonly headshot: string | null };
  }
>;

const nameOf = ({ id, profile }: ShownAccount): string | Html =>
  profile?.displayName ?? profile?.username ?? said("account.unnamed", { id });

export const accountName = (account: ShownAccount): Html => own(nameOf(account));

/** The first letter of the name, in place of a picture. */
const letterOf = (account: ShownAccount): Html => {
  const name = html`${plain(nameOf(account))}`;
  return capitalised(new Html((place) => /^(?:&[^;]*;|.)/su.exec(name.at(place))?.[0] ?? ""));
};

const pictureOf = ({ profile }: ShownAccount): string | null => {
  const avatar = profile?.avatar ?? null;
  const picture = typeof avatar === "string" ? avatar : (avatar?.headshot ?? null);
  return picture !== null && hasPlainOrigin(picture) ? picture : null;
};

/** The URLs of the pictures that the cards of accounts show. */
export const picturesOf = (accounts: ReadonlyArray<ShownAccount | null>): ReadonlyArray<string> =>
  accounts.flatMap((account) => (account && pictureOf(account)) ?? []);

export const cardHtml = (account: ShownAccount): Html => {
  const { id, profile } = account;
  const username = profile?.username ?? null;
  const picture = pictureOf(account);
  return html`
<div class="account">
${
  picture === null
    ? html`<span class="picture" aria-hidden="true">${letterOf(account)}</span>`
    : html`<img class="picture" src="${to(picture)}" alt="" width="48" height="48">`
}
<p><strong dir="auto">${nameOf(account)}</strong> <small>${
    username === null
      ? said("account.id", { id })
      : said("account.name_and_id", { username: own(`@${username}`), id })
  }</small></p>
</div>`;
};
