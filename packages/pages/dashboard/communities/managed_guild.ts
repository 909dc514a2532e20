/** The guild of a page. The visitor of a shared list chooses one of several guilds. */
import { guildOf, type Pid } from "@accountlink/core";
import { Communities, type ScopedGuild } from "@accountlink/core/communities";
import type { Forbidden } from "@accountlink/core/errors";
import type { OwnGuild } from "@accountlink/core/platforms";
import type { HttpResponse } from "@accountlink/http/for_pages";
import { statusOf } from "@accountlink/http-api";
import { Effect } from "effect";
import { type Html, html, to } from "../../html.ts";
import type { SiteError } from "../../sign_ins/refusals.ts";
import type { Fields } from "../form_fields.ts";
import { communityName, platforms } from "../look/names.ts";
import { say } from "../look/say.ts";
import { makeGuildChoice, type OwnerPages, type OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { communityPath, withQuery } from "../paths.ts";
import { type Community, makeCommunities } from "./community.ts";

export interface ManagedGuild extends ScopedGuild {
  readonly community: Community;
  /** Null if unknown. */
  readonly guildName: string | null;
}

type Path = Parameters<OwnerPages["page"]>[0];

type AnswerInGuild = (
  visitor: OwnerVisitor,
  guild: ManagedGuild,
  fields: Fields,
) => Effect.Effect<Page | HttpResponse, SiteError>;

/**
 * Returns functions that make routes of pages and forms of a guild that the visitor manages. If several guilds share the
 * list of links, the visitor first chooses one of the guilds.
 *
 * @param pathOf the page of a list, which takes the chosen guild as `guildId`
 */
export const makeInGuild = Effect.fnUntraced(function* (
  { page, form }: Pick<OwnerPages, "page" | "form">,
  pathOf: (pid: Pid) => string,
  title: Html,
) {
  const { enter } = yield* Communities;
  const communities = yield* makeCommunities;
  const guildsOf = yield* makeGuildChoice;

  const inGuild = (answer: AnswerInGuild) =>
    Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
      // A list that is closed, such as without the bot, says why below.
      const community = yield* communities.findAny(visitor, String(visitor.context.query["pid"]));
      const { pid } = community.scope;
      const guilds = (yield* guildsOf(visitor)) ?? [];
      const chosen = guilds.find((guild) => guild.guildId === fields("guildId"));
      const guildId = guildOf(community.scope) ?? chosen?.guildId;
      if (guildId === undefined) return guildChoicePage(community, guilds, pathOf, title);
      const guild = guilds.find((each) => each.guildId === guildId);
      const guildName = guild?.name ?? community.guildName;
      return yield* enter(visitor.owner, { pid, guildId }).pipe(
        Effect.flatMap((entered) => answer(visitor, { ...entered, community, guildName }, fields)),
        Effect.catchTag("Forbidden", (error) =>
          Effect.succeed(refusedGuildPage(community, error, guild, title)),
        ),
      );
    });

  return {
    page: (path: Path, answer: AnswerInGuild) => page(path, inGuild(answer)),
    form: (path: Path, answer: AnswerInGuild) => form(path, inGuild(answer)),
  };
});

/** Asks for a community, because a shared list of links has separate rules for each community. */
const guildChoicePage = (
  { scope }: Community,
  guilds: ReadonlyArray<OwnGuild>,
  pathOf: (pid: Pid) => string,
  title: Html,
): Page => {
  const usable = guilds.filter(({ bot, manager }) => bot && manager);
  return {
    title,
    section: "communities",
    content: html`
<p>${say("roles.each")}</p>
${
  usable.length === 0
    ? html`<p>${say("roles.no_guild")} ${managersOnly}</p>`
    : html`<ul class="cards" role="list">${usable.map(
        ({ guildId, name }) =>
          html`<li><h2><a href="${to(withQuery(pathOf(scope.pid), { guildId }))}">${name ?? guildId}</a></h2></li>`,
      )}</ul>`
}`,
  };
};

const managersOnly = say("roles.managers_only", { platform: platforms.chat });

const refusedGuildPage = (
  community: Community,
  error: Forbidden,
  guild: OwnGuild | undefined,
  title: Html,
): Page => ({
  status: statusOf(error),
  title,
  section: "communities",
  content: html`
<p>${error.reason === "not_guild_manager" && guild?.bot !== false ? managersOnly : say("roles.no_bot")}</p>
<p><a href="${to(communityPath(community.scope.pid))}">${say("channels.back", { community: communityName(community) })}</a></p>`,
});
