/**
 * The first page of the dashboard.
 */
import { AuditLog, OwnedKeys } from "@accountlink/core";
import { isAccepted } from "@accountlink/core/keys";
import { Limits, quotaOf } from "@accountlink/core/limits";
import { dayMs, makeUsageDays } from "@accountlink/core/usage";
import { overviewPage, paths } from "@accountlink/dashboard";
import { Effect } from "effect";
import type { OwnerPages } from "./owner_pages.ts";

/** The most leaks that the page lists. */
const mostLeaks = 10;

export const overviewRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const keys = yield* OwnedKeys;
  const log = yield* AuditLog;
  const limits = yield* Limits;
  const usageDays = yield* makeUsageDays;

  return [
    page(
      paths.overview,
      Effect.fnUntraced(function* ({ owner: { account }, context }) {
        const now = context.clock.currentTimeMillisUnsafe();
        const listed = yield* keys.list(account);
        const today = yield* Effect.forEach(
          listed.filter((key) => isAccepted(key, now)),
          (key) =>
            Effect.map(usageDays({ key: key.id }, 1), (usage) => ({
              key,
              quota: quotaOf(key.limits, limits[key.tier]),
              usage: usage.flatMap(({ groups }) => groups),
            })),
        );
        const reported = yield* log.list(account.name, null, mostLeaks, {
          action: "key.reported",
          keyId: null,
        });
        const view = {
          ...(yield* keys.plan(account)),
          keys: listed,
          today,
          week: yield* usageDays({ account: account.name }, 7),
          leaks: reported.filter(({ at }) => now - at < 30 * dayMs),
        };
        return overviewPage(view, now);
      }),
    ),
  ];
});
