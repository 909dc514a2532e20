/** What pages say and ask before an account or the data of a list is deleted. */
import { InvalidParameter } from "@accountlink/core/errors";
import { type Account, shownName } from "@accountlink/core/keys";
import type { OwnedScope } from "@accountlink/core/owners";
import type { RolePlan } from "@accountlink/core/roles";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import { buttonsOr, checkField, dangerTo, textField } from "../look/field.ts";
import { communityName, linksText } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { linkTo, say, tags } from "../look/say.ts";
import { makeNamed } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { communityPath, deleteDataPath, paths, rolesPath, withQuery } from "../paths.ts";
import type { Community, CountedCommunity } from "./community.ts";

export const deletionLabels = { confirm: say("deletion.confirmation") };

/** The links of lists, and what goes with them. */
export const linksOf = (lists: ReadonlyArray<Pick<OwnedScope, "links">>): Html => {
  const count = lists.reduce((sum, { links }) => sum + links.count, 0);
  const isCounted = lists.every(({ links }) => links.age !== null);
  const links = linksText({ count, age: isCounted ? 0 : null });
  return say("deletion.links", { links, lists: lists.length });
};

interface Deletion extends Readonly<Record<"action" | "back" | "name", string>> {
  readonly label: Html;
  readonly more?: Html | null;
}

/** Asks the owner to type the name of the list or account to delete. */
export const confirmForm = ({ action, back, name, label, more = null }: Deletion): Html => dangerTo(action)`
${textField({
  name: "confirm",
  label: say("deletion.type", { b: tags.b, name }),
  value: "",
  required: true,
  awaited: name,
})}
${more}
${buttonsOr(html`<button class="button bad">${label}</button>`, back, say("deletion.keep"))}`;

interface DataLoss {
  /** The text that the owner has to type. */
  readonly name: string;
  /** The role plans of the list that are on. */
  readonly plans: ReadonlyArray<Pick<RolePlan, "unlinked">>;
  readonly blocks: number;
}

/** @param keepsBlocks whether the refused form keeps the blocks */
export const dataDeletionPage = (
  community: CountedCommunity,
  { name, plans, blocks }: DataLoss,
  refused: Refused | null,
  keepsBlocks = true,
): Page => {
  const { scope } = community;
  return {
    title: say("deletion.data"),
    section: "communities",
    refused,
    labels: deletionLabels,
    content: html`
<p>${say("deletion.data.from", { b: tags.b, name: communityName(community) })}</p>
<ul>
<li>${linksOf([community])}</li>
<li>${say("deletion.data.running")}</li>
</ul>
<p>${say("deletion.data.stays")}</p>
${
  plans.length > 0 &&
  html`<p class="problem">${say(
    plans.every(({ unlinked }) => unlinked === "keep") ? "deletion.data.roles_kept" : "deletion.data.roles",
    { a: linkTo(rolesPath(scope.pid)) },
  )}</p>`
}
<p>${say("deletion.undo")} ${say("deletion.file_again", { a: linkTo(withQuery(paths.linksFile, { pid: scope.pid })) })}</p>
${confirmForm({
  action: deleteDataPath(scope.pid),
  back: communityPath(scope.pid),
  name,
  label: say("deletion.data.button"),
  more:
    blocks === 0
      ? null
      : checkField(
          "keepBlocks",
          say("deletion.data.blocks", {
            count: blocks,
            a: linkTo(withQuery(paths.blocksFile, { pid: scope.pid })),
          }),
          refused === null || keepsBlocks,
        ),
})}`,
  };
};

/** The name that an owner types to delete the data of a list: the shared list is called as the account is. */
export const deletionName = ({ scope, guildName }: Community, accountName: string): string =>
  scope.kind === "global" ? accountName : (guildName ?? scope.guildId);

/**
 * Returns a function that lists the names by which an owner may call an account. The first one is the same in every
 * language, so pages ask for it.
 */
export const makeDeletionNames = Effect.map(makeNamed, (named) =>
  Effect.fnUntraced(function* (account: Account) {
    const found = yield* named(account);
    const others = [account.name, shownName(account)] as const;
    if (found === null) return others;
    if ("title" in found) return [found.title, ...others] as const;
    return [found.owner, `${found.owner}’s account`, ...others] as const;
  }),
);

/** Fails unless the text is one of the names of what the request deletes, as people type and copy it. */
export const requireConfirmed = (text: string, names: ReadonlyArray<string | null>) => {
  const typed = plain(text);
  return typed !== "" && names.some((name) => name !== null && plain(name) === typed)
    ? Effect.void
    : InvalidParameter.one("confirm", { is: "confirmation" });
};

/**
 * A name as people type it, like `plain` of the script: pages show several spaces as one, letters have several forms, and
 * keyboards have neither invisible characters nor the typographic apostrophe.
 */
const plain = (text: string): string =>
  text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll("’", "'");
