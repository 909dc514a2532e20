/** What keeps the bot from its work in a community, and the way to mend it. */
import { ChatPlatform, type GuildId, guildOf, type Pid } from "@accountlink/core";
import {
  type CommunityPlace,
  CommunityStore,
  type Pause,
  type PausedBy,
} from "@accountlink/core/communities";
import { partsOf } from "@accountlink/core/group_by";
import { isChatId } from "@accountlink/core/ids";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { visibleName } from "@accountlink/core/name_text";
import { Profiles } from "@accountlink/core/platforms";
import { type PlanProblem, RolePlanStore } from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { type Html, html, to } from "../../html.ts";
import { guildText } from "../look/names.ts";
import { remedy, roleName } from "../look/remedies.ts";
import { linkTo, say } from "../look/say.ts";
import { timeHtml } from "../look/time.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import { rolesPath, withQuery } from "../paths.ts";
import type { Community } from "./community.ts";
import { addBotLink, everyRight, rightsFor } from "./first_steps.ts";

export interface Trouble {
  /** How the page shows the trouble: `bad` if nothing works in the community. */
  readonly tone: "bad" | "warn";
  readonly text: Html;
}

export const troublesHtml = (troubles: ReadonlyArray<Trouble>): ReadonlyArray<Html> =>
  troubles.map(({ tone, text }) => html`<p class="problem ${tone}">${text}</p>`);

type Reader = Pick<OwnerVisitor, "owner" | "signIn">;

const platformTimeout = "1 second";

/** In how many guilds at once the platform is asked for the bot. */
const askedAtOnce = 10;

export const makeTroubles = Effect.gen(function* () {
  const { joinedGuilds, roles, botInvite } = yield* ChatPlatform;
  const plans = yield* RolePlanStore;
  const communities = yield* CommunityStore;
  const profiles = yield* Profiles;

  const nameOf = ({ guildName, scope }: Community, guildId: GuildId) =>
    guildName !== null && guildOf(scope) === guildId
      ? Effect.succeed(guildName)
      : Effect.map(profiles.guild(guildId), (guild) => guildText(guildId, guild?.name));

  /** Names the roles of a guild that the visitor manages; nobody else may read them. */
  const rolesOf = ({ signIn }: Reader, guildId: GuildId) =>
    roles === undefined || !signIn.guilds?.some(({ id, manager }) => manager && id === guildId)
      ? Effect.succeed([])
      : roles.findGuildRoles(guildId).pipe(
          Effect.timeout(platformTimeout),
          Effect.map((found) => Option.getOrNull(found)?.roles ?? []),
          Effect.orElseSucceed(() => []),
        );

  /** Returns null if the reader paused the rules. */
  const whoPaused = Effect.fnUntraced(function* ({ owner }: Reader, { type, id }: PausedBy) {
    if (type === "operator") return say("audit.operator");
    if (type === "key") return say("audit.key", { id: id ?? "" });
    if (!isChatId(id)) return say("trouble.former_member");
    return id === owner.chatId ? null : (visibleName(yield* profiles.chat(id, null)) ?? id);
  });

  const pauseText = Effect.fnUntraced(function* (
    visitor: Reader,
    { at, why, by }: Pause,
    rules: ReturnType<typeof rulesOf>,
  ) {
    const paused = { ...rules, time: timeHtml(at) };
    if (why !== null) return say(`trouble.paused.${why}`, paused);
    if (by === null) return say("trouble.paused", rules);
    const who = yield* whoPaused(visitor, by);
    return who === null ? say("trouble.paused_by_you", paused) : say("trouble.paused_by", { ...paused, who });
  });

  const problemTexts = Effect.fnUntraced(function* (
    visitor: Reader,
    { pid, guildId }: CommunityPlace,
    invite: string | null,
    name: string | Html,
  ) {
    const { problems } = yield* plans.status({ pid, guildId });
    if (problems.length === 0) return [];
    const view = { roles: yield* rolesOf(visitor, guildId) };
    return problems.map(
      (problem) =>
        html`${whatFails(problem, { ...rulesOf(pid, guildId, name), count: Math.max(1, problem.count) }, view)} ${remedy(view, problem)}${
          problem.reason === "no_permission" &&
          invite !== null &&
          html` <a href="${to(invite)}" rel="noreferrer">${say("trouble.give_rights")}</a>`
        }`,
    );
  });

  const placesOf = Effect.fnUntraced(function* (community: Community) {
    const { pid } = community.scope;
    const own = guildOf(community.scope);
    const [set, planned] = [yield* communities.list(pid), yield* plans.list(pid)];
    const known = new Set([...set, ...planned].map(({ guildId }) => guildId));
    return { community, set, planned, known, guildIds: new Set([...(own === null ? [] : [own]), ...known]) };
  });

  const troublesAt = Effect.fnUntraced(function* (
    visitor: Reader,
    { community, set, planned, known }: Effect.Success<ReturnType<typeof placesOf>>,
    guildId: GuildId,
    isOut: boolean,
  ) {
    if (!isOut && !known.has(guildId)) return [];
    const { pid } = community.scope;
    const isHere = (one: { readonly guildId: GuildId }) => one.guildId === guildId;
    const name = yield* nameOf(community, guildId);
    const rights = rightsFor(planned.filter(isHere), set.filter(isHere));
    const invite = botInvite?.(guildId, rights) ?? null;
    const troubles: Array<Trouble> = [];
    if (isOut)
      troubles.push({
        tone: "bad",
        text: html`${say("trouble.out", { community: name })} ${addBotLink(botInvite?.(guildId, everyRight) ?? null, name)}`,
      });
    const pause = set.find(isHere)?.paused ?? null;
    if (pause !== null) {
      const rules = rulesOf(pid, guildId, name);
      troubles.push({ tone: "warn", text: yield* pauseText(visitor, pause, rules) });
    }
    if (!isOut) {
      const texts = yield* problemTexts(visitor, { pid, guildId }, invite, name);
      for (const text of texts) troubles.push({ tone: "warn", text });
    }
    return troubles;
  });

  /** The guilds without the bot, as far as the platform answers. Each part has its time, as the platform reads lists for it. */
  const withoutBot = Effect.fnUntraced(function* (guildIds: ReadonlyArray<GuildId>) {
    const parts = yield* forEachLimited(partsOf(guildIds, askedAtOnce), 4, (part) =>
      joinedGuilds(part).pipe(
        Effect.timeout(platformTimeout),
        Effect.map((joined) => part.filter((guildId) => !joined.has(guildId))),
        Effect.orElseSucceed(() => []),
      ),
    );
    return new Set(parts.flat());
  });

  /** Returns the troubles of each community. */
  return Effect.fnUntraced(function* (visitor: Reader, listed: ReadonlyArray<Community>) {
    const places = yield* forEachLimited(listed, 4, placesOf);
    const out = yield* withoutBot([...new Set(places.flatMap(({ guildIds }) => [...guildIds]))]);
    const ofPlace = (place: (typeof places)[number]) =>
      Effect.forEach(place.guildIds, (guildId) => troublesAt(visitor, place, guildId, out.has(guildId)));
    const found = yield* forEachLimited(places, 4, ofPlace);
    return found.map((troubles) => troubles.flat());
  });
});

/** The rules of a community, for messages with a link to them. */
const rulesOf = (pid: Pid, guildId: GuildId, community: string | Html) => ({
  a: linkTo(withQuery(rolesPath(pid), { guildId })),
  community,
});

const ofCommunity = [
  "log_channel_closed",
  "members_hidden",
  "reminders_refused",
  "reminders_held",
] as const satisfies ReadonlyArray<PlanProblem["reason"]>;

/** Whether a problem concerns neither a role nor nicknames. */
const isOfCommunity = (reason: PlanProblem["reason"]): reason is (typeof ofCommunity)[number] =>
  ofCommunity.some((each) => each === reason);

const whatFails = (
  { reason, roleId }: PlanProblem,
  place: ReturnType<typeof rulesOf> & { readonly count: number },
  view: Parameters<typeof roleName>[0],
): Html => {
  const role = roleName(view, roleId ?? "");
  if (reason === "many_would_lose") return say("trouble.many_would_lose", { ...place, role });
  if (isOfCommunity(reason)) return say(`trouble.${reason}`, place);
  return roleId === null ? say("trouble.nickname", place) : say("trouble.role", { ...place, role });
};
