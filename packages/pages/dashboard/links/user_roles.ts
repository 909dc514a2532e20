/** The roles of a member on the user's page: as they are, and what the rules would change. */
import { type ChatId, ChatPlatform, guildOf } from "@accountlink/core";
import { Communities } from "@accountlink/core/communities";
import type { ChatProfile } from "@accountlink/core/platforms";
import { givesSomething, type MemberChanges, RolePlans } from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { formTo, type Html, section } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { linkTo, listOf, say } from "../look/say.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import { paths, rolesPath } from "../paths.ts";
import { changesHtml, isApplicable, obstacles, type RulesView } from "../roles/member_preview.ts";

const timeout = "2 seconds";

export interface UserRoles extends RulesView {
  readonly changes: MemberChanges;
  /** Whether the rules are on, and the reader may apply them. */
  readonly mayApply: boolean;
}

/**
 * Returns a function that compares a member with the rules of a guild's own list. Null without rules, for users outside
 * the guild, and while a platform does not answer.
 */
export const makeUserRoles = Effect.gen(function* () {
  const plans = yield* RolePlans;
  const { roles } = yield* ChatPlatform;
  const { enter } = yield* Communities;

  return Effect.fnUntraced(
    function* ({ owner }: OwnerVisitor, { scope }: Community, chatId: ChatId) {
      const guildId = guildOf(scope);
      if (guildId === null || roles === undefined) return null;
      const own = { scope, guildId };
      const details = yield* plans.find(own);
      if (!givesSomething(details.plan)) return null;
      const guild = Option.getOrNull(yield* roles.findGuildRoles(guildId));
      if (guild === null) return null;
      const changes = yield* plans.preview(own, chatId);
      const manages = yield* enter(owner, { pid: scope.pid, guildId }).pipe(
        Effect.as(true),
        Effect.catchTag("Forbidden", () => Effect.succeed(false)),
      );
      const mayApply = details.plan.state === "on" && manages;
      return { roles: guild.roles, details, changes, mayApply } satisfies UserRoles;
    },
    Effect.timeoutOption(timeout),
    Effect.map(Option.getOrNull),
    Effect.catchTag(["Forbidden", "PlatformUnavailable"], () => Effect.succeed(null)),
  );
});

/** @param chat the profile, which names the roles that the member has */
export const userRolesSection = (
  { scope }: Pick<Community, "scope">,
  chatId: ChatId,
  chat: ChatProfile | null,
  isLinked: boolean,
  rules: UserRoles,
): Html => {
  const { pid } = scope;
  const { changes, mayApply } = rules;
  const held = (chat?.guild?.roles ?? []).map(({ id, name }) => name ?? id);
  return section(say("user.roles"), "roles")`
<p>${held.length === 0 ? say("user.roles.none") : say("user.roles.has", { roles: listOf(held) })} ${say(
    "user.roles.rules",
    {
      a: linkTo(rolesPath(pid)),
      changes: changesHtml(rules, { isLinked, changes }),
    },
  )}</p>
${obstacles(rules, changes)}
${
  isApplicable(rules, changes) &&
  mayApply &&
  formTo(paths.applyRoles, { pid, chatId })`
<p class="row"><button class="button quiet">${say("user.roles.apply")}</button></p>`
}`;
};
