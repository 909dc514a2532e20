/** What the overview shows: decisions that wait, the communities of the owner, and the requests of keys. */
import { type GuildId, guildOf, OwnedKeys } from "@accountlink/core";
import { countUndecided, makeAltQueue } from "@accountlink/core/alts";
import { auditActions } from "@accountlink/core/audit";
import { CommunityStore } from "@accountlink/core/communities";
import { isAccepted } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { Limits, quotaOf } from "@accountlink/core/limits";
import { makeOwnedAudit, OwnedScopes, UnlinkedMembers } from "@accountlink/core/owners";
import { Profiles } from "@accountlink/core/platforms";
import { changesSince, RolePlanStore } from "@accountlink/core/roles";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { makeUsageDays } from "@accountlink/core/usage";
import { Webhooks } from "@accountlink/core/webhooks";
import { Clock, Effect, Option } from "effect";
import { makeEntryNames } from "../audit/entry_names.ts";
import { type Community, type CountedCommunity, makeCommunities } from "../communities/community.ts";
import { makeFirstSteps } from "../communities/first_steps.ts";
import { makeTroubles } from "../communities/troubles.ts";
import { makeAskedLists } from "../links/asked_lists.ts";
import { makeMemberListWait } from "../links/member_list_wait.ts";
import { guildText, platforms } from "../look/names.ts";
import { capitalised, say } from "../look/say.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import { requestsOf, sumOf } from "../usage/usage_charts.ts";

const mostLeaks = 10;

const mostKeys = 5;

/** The overview shows at most this many lists, those with the most links, and this many guilds of each. */
const [mostLists, mostGuilds] = [6, 4];

/** The overview looks for problems in at most this many lists, those with the most links. */
const mostWatched = 100;

const mostChanges = 6;

const listWait = "700 millis";

const linkChanges = auditActions.filter((action) => action.startsWith("link"));

export type OverviewView = Effect.Success<ReturnType<Effect.Success<typeof makeOverviewView>>>;

export const makeOverviewView = Effect.gen(function* () {
  const keys = yield* OwnedKeys;
  const entriesOf = yield* makeOwnedAudit;
  const limits = yield* Limits;
  const usage = yield* makeUsageDays;
  const webhooks = yield* Webhooks;
  const scopes = yield* OwnedScopes;
  const communities = yield* makeCommunities;
  const settings = yield* CommunityStore;
  const planned = yield* RolePlanStore;
  const profiles = yield* Profiles;
  const unlinked = yield* UnlinkedMembers;
  const waitForMembers = yield* makeMemberListWait;
  const altsOf = yield* makeAltQueue;
  const namesOf = yield* makeEntryNames;
  const asked = yield* makeAskedLists;
  const stepsOf = yield* makeFirstSteps;
  const troublesOf = yield* makeTroubles;

  const guildFigures = Effect.fnUntraced(function* ({ scope, guildName }: Community, guildId: GuildId) {
    const found = yield* profiles.guild(guildId);
    const place = { pid: scope.pid, guildId };
    const counted = waitForMembers(guildId, unlinked.page(scope, guildId, "", null, 1), listWait);
    return {
      guildId,
      name: guildText(guildId, found?.name ?? guildName),
      members: yield* Effect.catchTag(counted, ["PlatformUnavailable", "MissingParameter"], () =>
        Effect.succeed({ reason: capitalised(say("links.no_answer", { platform: platforms.chat })) }),
      ),
      plan: Option.getOrNull(yield* planned.find(place)),
      status: yield* planned.status(place),
      /** What the rules did in the last seven days. */
      changes: changesSince(yield* planned.changedDays(place), yield* Clock.currentTimeMillis),
    };
  });

  /** Whether members of a guild count by this list: not where the rules ask another list of the owner. */
  const countsIn = (lists: ReadonlyArray<Community>, { scope }: Community, guildId: GuildId) =>
    Effect.map(asked.listOf(lists, guildId), (found) => found === null || found.pid === scope.pid);

  const listFigures = Effect.fnUntraced(function* (
    lists: ReadonlyArray<Community>,
    community: CountedCommunity,
  ) {
    const { pid } = community.scope;
    const own = guildOf(community.scope);
    const known = [...(yield* settings.list(pid)), ...(yield* planned.list(pid))];
    const all = [...new Set([...(own === null ? [] : [own]), ...known.map(({ guildId }) => guildId)])];
    const guildIds = yield* Effect.filter(all, (guildId) => countsIn(lists, community, guildId));
    return {
      community,
      verified: yield* scopes.counts.weeksOf(pid),
      /** Null while many links are being counted. */
      ways: yield* scopes.counts.waysOf(pid),
      guilds: yield* forEachLimited(guildIds.slice(0, mostGuilds), mostGuilds, (guildId) =>
        guildFigures(community, guildId),
      ),
      /** How many guilds of the list are not among `guilds`. */
      others: Math.max(0, guildIds.length - mostGuilds),
    };
  });

  /** Collects what the overview says of communities. Before the first link, the first steps for a new owner. */
  const ofCommunities = Effect.fnUntraced(function* (visitor: OwnerVisitor) {
    const { account } = visitor.owner;
    const all = yield* communities.listCounted(visitor);
    const watched = all.toSorted((one, other) => other.links.count - one.links.count).slice(0, mostWatched);
    const isNew = all.every(({ links }) => links.count === 0);
    const first = all.find(({ scope }) => scope.kind === "guild") ?? all[0] ?? null;
    const alts = account.tier === "premium" ? watched : [];
    return {
      troubles: (yield* troublesOf(visitor, watched)).flat(),
      /** How many lists were not looked at for troubles and for undecided links. */
      unwatched: all.length - watched.length,
      undecided: yield* forEachLimited(alts, 4, (community) =>
        Effect.map(altsOf(community.scope), (queue) => ({ community, count: countUndecided(queue) })),
      ).pipe(Effect.map((found) => found.filter(({ count }) => count > 0))),
      lists: isNew
        ? []
        : yield* forEachLimited(watched.slice(0, mostLists), 3, (each) => listFigures(all, each)),
      otherLists: Math.max(0, all.length - mostLists),
      steps: isNew ? yield* stepsOf(visitor, first) : null,
    };
  });

  const ofKeys = Effect.fnUntraced(function* ({ owner }: OwnerVisitor, now: Millis) {
    const { account } = owner;
    const listed = yield* keys.list(owner);
    const todayOf = yield* usage.byKey(account.name, 1);
    const active = listed.filter((key) => isAccepted(key, now));
    const today = active
      .map((key) => ({
        key,
        quota: quotaOf(key.limits, limits[key.tier]),
        usage: todayOf(key.id).flatMap((day) => day.groups),
      }))
      .toSorted((one, other) => requestsOf(sumOf(other.usage)) - requestsOf(sumOf(one.usage)))
      .slice(0, mostKeys);
    return {
      ...(yield* keys.plan(account)),
      keys: listed,
      /** The keys with the most requests today. */
      today,
      active: active.length,
      days: yield* usage.of({ account: account.name }, 14),
    };
  });

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, now: Millis) {
    const { account, scopes: own } = visitor.owner;
    const ofThem = yield* ofKeys(visitor, now);
    const { entries: leaks } = yield* entriesOf(visitor, null, mostLeaks, {
      action: "key.reported",
      keyId: null,
    });
    const { entries: changes } = yield* entriesOf(visitor, null, mostChanges, {
      action: null,
      keyId: null,
      readable: linkChanges,
      during: { from: now - 7 * dayMs, before: now + dayMs },
    });
    return {
      ofKeys: ofThem,
      ...(yield* ofCommunities(visitor)),
      changes,
      names: yield* namesOf(visitor, ofThem.keys, changes),
      /** The chat ID of the user; null if the user is a member of several accounts. */
      alone: visitor.accounts.length === 1 ? visitor.signIn.chatId : null,
      leaks: leaks.filter(({ at }) => now - at < 30 * dayMs),
      broken: (own === null ? yield* webhooks.list(account.name) : []).filter(
        ({ status, failingSince }) => status === "disabled" || (status === "active" && failingSince !== null),
      ),
    };
  });
});
