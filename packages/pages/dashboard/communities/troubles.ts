/** What keeps the bot from its work in a community, and the way to mend it. */
import { AuditLog, ChatPlatform, type GuildId, guildOf } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { isChatId } from "@accountlink/core/ids";
import { visibleName } from "@accountlink/core/name_text";
import { Profiles } from "@accountlink/core/platforms";
import { type PlanProblem, type RolePlan, RolePlanStore } from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { type Html, html, to } from "../../html.ts";
import { remedy, roleName } from "../look/remedies.ts";
import { counted, timeHtml } from "../look/time.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import { rolesPath, withQuery } from "../paths.ts";
import type { Community } from "./community.ts";
import { addBotLink, makeBotInvite, rightsFor } from "./first_steps.ts";

export interface Trouble {
  /** How the page shows the trouble: `bad` if nothing works in the community. */
  readonly tone: "bad" | "warn";
  readonly text: Html;
}

const platformTimeout = "1 second";

/** The newest entries of the audit log among which is the one that paused a plan. */
const searchedEntries = 20;

/** Returns a function that finds what keeps the bot from its work in a community. */
export const makeTroubles = Effect.gen(function* () {
  const { joinedGuilds, roles } = yield* ChatPlatform;
  const plans = yield* RolePlanStore;
  const profiles = yield* Profiles;
  const log = yield* AuditLog;
  const botInvite = yield* makeBotInvite;

  const nameOf = ({ guildName, scope }: Community, guildId: GuildId) =>
    guildName !== null && guildOf(scope) === guildId
      ? Effect.succeed(guildName)
      : Effect.map(profiles.guild(guildId), (guild) => guild?.name ?? `community ${guildId}`);

  /** Names the roles of a guild that the visitor manages; nobody else may read them. */
  const rolesOf = ({ signIn }: OwnerVisitor, guildId: GuildId) =>
    roles === undefined || !signIn.guilds?.some(({ id, manager }) => manager && id === guildId)
      ? Effect.succeed([])
      : roles.findGuildRoles(guildId).pipe(
          Effect.timeout(platformTimeout),
          Effect.map((found) => Option.getOrNull(found)?.roles ?? []),
          Effect.orElseSucceed(() => []),
        );

  const whoPaused = Effect.fnUntraced(function* ({ owner }: OwnerVisitor, { actor }: AuditEntry) {
    if (actor.type !== "account") return "the operator";
    const { member } = actor;
    if (!isChatId(member)) return actor.id;
    return member === owner.chatId ? "you" : (visibleName(yield* profiles.chat(member, null)) ?? member);
  });

  const pauseText = Effect.fnUntraced(function* (visitor: OwnerVisitor, plan: RolePlan, name: string) {
    const { scope, guildId } = plan;
    const filter = { action: "roles.updated", keyId: null, pid: scope.pid } as const;
    const entries = yield* log.list(visitor.owner.account.name, null, searchedEntries, filter);
    const entry = entries.find(({ details }) => details["guildId"] === guildId);
    const rules = html`<a href="${to(withQuery(rolesPath(scope.pid), { guildId }))}">rules of ${name}</a>`;
    if (entry === undefined) return html`The ${rules} are paused: nobody gets roles or nicknames by them.`;
    if (isByService(entry))
      return html`This service paused the ${rules} at ${timeHtml(entry.at)}: the bot was removed, nobody of your team
        managed the community any more, or many members would have lost a role. Look at them, and turn them on again.`;
    return html`The ${rules} were paused by ${yield* whoPaused(visitor, entry)} at ${timeHtml(entry.at)}: nobody gets
      roles or nicknames by them until they are turned on.`;
  });

  const problemTexts = Effect.fnUntraced(function* (visitor: OwnerVisitor, plan: RolePlan, name: string) {
    const { guildId, scope } = plan;
    const { problems } = yield* plans.status({ pid: scope.pid, guildId });
    if (problems.length === 0) return [];
    const view = { roles: yield* rolesOf(visitor, guildId) };
    const invite = botInvite(guildId, rightsFor([plan]));
    return kindsOf(problems).map(
      ({ first, count }) =>
        html`In <a href="${to(withQuery(rolesPath(scope.pid), { guildId }))}">${name}</a>, ${whatFails(first, view)}${
          count === 1 ? null : html` (${counted(count, "case")})`
        }. ${remedy(view, first, visitor.platforms)}${
          first.reason === "no_permission" && invite !== null
            ? html` <a href="${to(invite)}" rel="noreferrer">Give the bot the rights</a>`
            : null
        }`,
    );
  });

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, community: Community) {
    const own = guildOf(community.scope);
    const listed = yield* plans.list(community.scope.pid);
    const guildIds = [...new Set([...(own === null ? [] : [own]), ...listed.map(({ guildId }) => guildId)])];
    if (guildIds.length === 0) return [];
    const joined = yield* joinedGuilds(guildIds).pipe(
      Effect.timeout(platformTimeout),
      Effect.orElseSucceed(() => new Set(guildIds)),
    );
    const found = yield* Effect.forEach(guildIds, (guildId) =>
      Effect.gen(function* () {
        const plan = listed.find((each) => each.guildId === guildId);
        const isOut = !joined.has(guildId);
        if (!isOut && plan === undefined) return [];
        const name = yield* nameOf(community, guildId);
        const troubles: Array<Trouble> = [];
        if (isOut) {
          const invite = botInvite(guildId, rightsFor(plan === undefined ? [] : [plan]));
          troubles.push({ tone: "bad", text: outText(name, addBotLink(invite, name)) });
        }
        if (plan?.state === "paused") {
          troubles.push({ tone: "warn", text: yield* pauseText(visitor, plan, name) });
        }
        if (plan !== undefined && !isOut) {
          for (const text of yield* problemTexts(visitor, plan, name)) troubles.push({ tone: "warn", text });
        }
        return troubles;
      }),
    );
    return found.flat();
  });
});

const outText = (name: string, add: Html | null): Html =>
  html`The bot is not in ${name}. Lookups for it are refused, and nobody gets roles or nicknames. ${add}`;

/** The service itself acts in the log as the operator named "roles". */
const isByService = ({ actor }: AuditEntry): boolean => actor.type === "operator" && actor.id === "roles";

/** Counts the problems that have the same cause and the same remedy. */
const kindsOf = (problems: ReadonlyArray<PlanProblem>) => {
  const kinds = new Map<string, { readonly first: PlanProblem; readonly count: number }>();
  for (const problem of problems) {
    const kind = `${problem.reason} ${problem.roleId}`;
    const { first = problem, count = 0 } = kinds.get(kind) ?? {};
    kinds.set(kind, { first, count: count + 1 });
  }
  return [...kinds.values()];
};

const whatFails = ({ reason, roleId }: PlanProblem, view: Parameters<typeof roleName>[0]): string => {
  if (reason === "many_would_lose") return `many members would lose the role ${roleName(view, roleId ?? "")}`;
  if (reason === "log_channel_closed") return "the bot may not write into the channel of the log";
  if (reason === "members_hidden") return "the bot cannot compare the members";
  return roleId === null
    ? "the bot may not change a nickname"
    : `the bot may not change the role ${roleName(view, roleId)}`;
};
