/** Routes of the community pages: the list, and the settings of one community's verification texts. */

import { ChatPlatform, guildOf } from "@accountlink/core";
import { isGuildId } from "@accountlink/core/ids";
import { OwnedBlocks, OwnedScopes } from "@accountlink/core/owners";
import { RolePlanStore } from "@accountlink/core/roles";
import { Effect, Record } from "effect";
import { type Html, html, type Problem, section, to } from "../../html.ts";
import { jsonRoutes } from "../api_pipeline.ts";
import { isUntouched } from "../form_values.ts";
import { communityName, linksText } from "../look/names.ts";
import { orShowAgain, type Refused } from "../look/refused.ts";
import { say, tags } from "../look/say.ts";
import { nextPage } from "../look/table.ts";
import { type OwnerPages, type OwnerVisitor, pageNumber, seeOther, typedIn } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { communityPath, deleteDataPath, may, paths, rolesPath, withQuery } from "../paths.ts";
import { type Community, type CountedCommunity, makeCommunities } from "./community.ts";
import { makeCommunityOperations } from "./community_operations.ts";
import {
  type AgeForm,
  ageLabels,
  agesIn,
  boxLabels,
  communityPage,
  makeCommunityView,
  type SaidForm,
  saidIn,
  saidLabels,
  type Ticked,
} from "./community_page.ts";
import { dataDeletionPage, deletionName, makeDeletionNames } from "./deletion.ts";
import {
  addBotLink,
  everyRight,
  type FirstSteps,
  firstSteps,
  makeFirstSteps,
  openForm,
} from "./first_steps.ts";
import { makeTroubles, type Trouble, troublesHtml } from "./troubles.ts";

/** How many communities a page of the list shows, because each takes several reads. */
const shownCards = 50;

export const communitiesRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const scopes = yield* OwnedScopes;
  const operations = yield* makeCommunityOperations;
  const communities = yield* makeCommunities;
  const stepsOf = yield* makeFirstSteps;
  const { botInvite } = yield* ChatPlatform;
  const troublesOf = yield* makeTroubles;
  const viewOf = yield* makeCommunityView;
  const plans = yield* RolePlanStore;
  const accountNames = yield* makeDeletionNames;
  const blocks = yield* OwnedBlocks;

  const one = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: { readonly said?: SaidForm; readonly ages?: AgeForm; readonly ticked?: Partial<Ticked> },
    problems: ReadonlyArray<Problem>,
  ) {
    const community = yield* communities.findAnyCounted(visitor, String(visitor.context.query["pid"]));
    const { said = saidIn(community.settings), ages = agesIn(community.settings) } = typed;
    const view = yield* viewOf(visitor, community, said);
    return communityPage(view, said, ages, { ...community.settings, ...typed.ticked }, problems);
  });

  /** Finds the community that the path names, and shows what deleting its data deletes. */
  const deletion = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    refused: Refused | null,
    keepsBlocks = true,
  ) {
    const community = yield* communities.findAnyCounted(visitor, String(visitor.context.query["pid"]));
    const [accountName] = yield* accountNames(visitor.owner.account);
    const listed = yield* plans.list(community.scope.pid);
    const active = listed.filter(({ state }) => state === "on");
    const name = deletionName(community, accountName);
    const loss = { name, plans: active, blocks: yield* blocks.count(community.scope) };
    return dataDeletionPage(community, loss, refused, keepsBlocks);
  });

  return [
    ...jsonRoutes(operations),
    page(paths.communities, function* (visitor) {
      const listed = yield* communities.list(visitor);
      const pages = Math.max(1, Math.ceil(listed.length / shownCards));
      const number = Math.min(pages, pageNumber(String(visitor.context.query["page"])));
      const shown = listed.slice((number - 1) * shownCards, number * shownCards);
      const counted = yield* scopes.withNumbers(visitor.owner, shown);
      const troubles = yield* troublesOf(visitor, shown);
      const steps = yield* stepsOf(visitor, null);
      return {
        title: say("menu.communities"),
        section: "communities",
        content:
          listed.length === 0
            ? html`<p>${say("communities.none")}</p>${firstSteps(steps)}`
            : html`
<ul class="cards" role="list">${counted.map((community, index) => card(community, troubles[index] ?? []))}</ul>
${nextPage(number < pages ? withQuery(paths.communities, { page: String(number + 1) }) : null, say("links.next"))}
${visitor.scopes === null && others(listed, steps.guilds, botInvite)}`,
      } satisfies Page;
    }),

    form(paths.communities, function* (visitor, fields) {
      const guildId = fields("guildId");
      if (!isGuildId(guildId)) return seeOther(paths.communities);
      return seeOther(rolesPath(yield* scopes.open(visitor.owner, guildId)));
    }),

    page(communityPath(":pid"), (visitor) => one(visitor, {}, [])),

    page(deleteDataPath(":pid"), (visitor) => deletion(visitor, null)),

    form(deleteDataPath(":pid"), (visitor, fields) =>
      orShowAgain(
        Effect.map(
          // Browsers send only a ticked box, and no box where nobody is blocked.
          operations.deleteData.submit(visitor, fields, { keepBlocks: fields("keepBlocks") === "true" }),
          ({ pid }) => seeOther(communityPath(pid), { done: "dataDeleted" }),
        ),
        (refused) => deletion(visitor, refused, fields("keepBlocks") === "true"),
      ),
    ),

    form(communityPath(":pid"), function* (visitor, fields) {
      const isAges = fields("act") === "ages";
      const typed = isAges
        ? { ages: typedIn({ ...ageLabels, shown: "" }, fields) }
        : { said: typedIn({ ...saidLabels, shown: "" }, fields) };
      if (fields("act") === "preview") return yield* one(visitor, typed, []);
      // Browsers send only a ticked box.
      const ticked: Readonly<Record<string, boolean>> = isAges
        ? Record.map(boxLabels, (_, name) => fields(name) === "true")
        : {};
      const changed = Record.filter(ticked, (_, name) => !isUntouched(fields, name));
      const save = Effect.map(operations.update.submit(visitor, fields, changed), ({ scope: { pid } }) =>
        seeOther(communityPath(pid), { done: isAges ? "ages" : "said" }),
      );
      return yield* Effect.catchTag(save, "InvalidParameter", ({ parameters }) =>
        one(visitor, { ...typed, ticked }, parameters),
      );
    }),
  ];
});

const card = (community: CountedCommunity, troubles: ReadonlyArray<Trouble>): Html => {
  const { scope, links, keys, settings } = community;
  const name = communityName(community);
  return html`
<li>
<h2><a href="${to(communityPath(scope.pid))}">${name}</a></h2>
<p>${settings.displayName !== null && html`${say("communities.read", { b: tags.b, name: settings.displayName })} `}${
    guildOf(scope) === null ? say("communities.shared") : say("communities.own")
  }</p>
<p class="figure">${say("communities.figure", { b: tags.b, links: linksText(links) })}${may(paths.keys, html` · ${say("communities.keys", { count: keys })}`)}</p>
${troublesHtml(troubles)}
<p><a href="${to(withQuery(paths.links, { pid: scope.pid }))}">${say("communities.links", { unseen: tags.unseen, community: name })}</a> ·
<a href="${to(communityPath(scope.pid))}">${say("communities.settings", { unseen: tags.unseen, community: name })}</a> ·
<a href="${to(rolesPath(scope.pid))}">${say("communities.roles", { unseen: tags.unseen, community: name })}</a></p>
</li>`;
};

/** The communities that the user manages, and that have no list yet. */
const others = (
  listed: ReadonlyArray<Community>,
  guilds: FirstSteps["guilds"],
  botInvite: ChatPlatform["Service"]["botInvite"],
): Html | null => {
  const known = new Set(listed.map(({ scope }) => guildOf(scope)));
  const rest = (guilds ?? []).filter(({ guildId, manager }) => manager && !known.has(guildId));
  if (rest.length === 0) return null;
  return section(say("communities.others"))`
<ul class="cards" role="list">${rest.map(
    ({ guildId, name, bot, manager }) => html`
<li><h3>${name ?? guildId}</h3>
${
  bot
    ? openForm({ guildId, name, bot, manager })
    : html`<p>${say("communities.no_bot")} ${addBotLink(botInvite?.(guildId, everyRight) ?? null, name ?? guildId)}</p>`
}</li>`,
  )}</ul>`;
};
