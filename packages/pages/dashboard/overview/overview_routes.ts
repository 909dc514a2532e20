import { AuditLog, guildOf, OwnedKeys } from "@accountlink/core";
import { OwnedScopes, sumCounts } from "@accountlink/core/communities";
import { isAccepted } from "@accountlink/core/keys";
import { Limits, quotaOf } from "@accountlink/core/limits";
import { RolePlanStore } from "@accountlink/core/roles";
import { dayMs } from "@accountlink/core/timestamp";
import { makeUsageDays } from "@accountlink/core/usage";
import { Webhooks } from "@accountlink/core/webhooks";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { makeCommunities } from "../communities/community.ts";
import { hasPlanOn, makeBotInvite } from "../communities/first_steps.ts";
import { makeGuildChoice, type OwnerPages, type OwnerVisitor } from "../owner_pages.ts";
import { requestsOf, sumOf } from "../usage/usage_totals.ts";
import { overviewPage } from "./overview_page.ts";

const mostLeaks = 10;

/** The overview shows at most this many keys. */
const mostKeys = 5;

export const overviewRoutes = Effect.fnUntraced(function* ({ start }: OwnerPages) {
  const keys = yield* OwnedKeys;
  const log = yield* AuditLog;
  const limits = yield* Limits;
  const usage = yield* makeUsageDays;
  const webhooks = yield* Webhooks;
  const scopes = yield* OwnedScopes;
  const communities = yield* makeCommunities;
  const guildsOf = yield* makeGuildChoice;
  const plans = yield* RolePlanStore;
  const { publicUrl } = yield* HttpSettings;
  const botInvite = yield* makeBotInvite;

  /** Counts the links of all communities. Before the first link, also returns the first steps for a new owner. */
  const beginning = Effect.fnUntraced(function* (visitor: OwnerVisitor) {
    const owned = yield* scopes.list(visitor.owner.account);
    const links = sumCounts(owned.map((community) => community.links));
    const weeks = yield* Effect.forEach(owned, ({ scope }) => scopes.verifiedWeeks(scope.pid));
    const verified = {
      last: sumCounts(weeks.map(({ last }) => last)),
      before: sumCounts(weeks.map(({ before }) => before)),
    };
    const lists = owned.length;
    if (links.count > 0) return { links, lists, verified, steps: null };
    const first = owned.find(({ scope }) => scope.kind === "guild") ?? owned[0];
    const community = first === undefined ? null : yield* communities.named(visitor, first);
    const guildId = community === null ? null : guildOf(community.scope);
    const steps = {
      guilds: yield* guildsOf(visitor),
      botInvite: botInvite(guildId),
      community,
      publicUrl,
      rolesOn: community !== null && hasPlanOn(yield* plans.list(community.scope.pid)),
    };
    return { links, lists, verified, steps };
  });

  return [
    start(
      Effect.fnUntraced(function* (visitor) {
        const { account } = visitor.owner;
        const { context } = visitor;
        const now = context.clock.currentTimeMillisUnsafe();
        const listed = yield* keys.list(account);
        const todayOf = yield* usage.byKey(account.name, 1);
        const active = listed.filter((key) => isAccepted(key, now));
        const today = active
          .map((key) => ({
            key,
            quota: quotaOf(key.limits, limits[key.tier]),
            usage: todayOf(key.id).flatMap(({ groups }) => groups),
          }))
          .toSorted((one, other) => requestsOf(sumOf(other.usage)) - requestsOf(sumOf(one.usage)))
          .slice(0, mostKeys);
        const reported = yield* log.list(account.name, null, mostLeaks, {
          action: "key.reported",
          keyId: null,
        });
        const view = {
          ...(yield* keys.plan(account)),
          keys: listed,
          today,
          active: active.length,
          days: yield* usage.of({ account: account.name }, 14),
          ...(yield* beginning(visitor)),
          alone: visitor.accounts.length === 1 ? visitor.signIn.chatId : null,
          leaks: reported.filter(({ at }) => now - at < 30 * dayMs),
          broken: (yield* webhooks.list(account.name)).filter(
            ({ status, failingSince }) =>
              status === "disabled" || (status === "active" && failingSince !== null),
          ),
        };
        return overviewPage(view, now);
      }),
    ),
  ];
});
