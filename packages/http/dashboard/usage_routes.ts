/**
 * The page of usage, and the same as a file.
 */
import { OwnedKeys } from "@accountlink/core";
import type { Account, KeyDetails } from "@accountlink/core/keys";
import { makeUsageDays } from "@accountlink/core/usage";
import { paths, type UsageFilter, usageCsv, usagePage } from "@accountlink/dashboard";
import { Effect } from "effect";
import { type Fields, type OwnerPages } from "./owner_pages.ts";
import { csvResponse } from "./page_response.ts";

export const usageRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const keys = yield* OwnedKeys;
  const usageDays = yield* makeUsageDays;

  const byKey = (listed: ReadonlyArray<KeyDetails>, days: number) =>
    Effect.forEach(listed, (key) =>
      Effect.map(usageDays({ key: key.id }, days), (found) => ({ key, days: found })),
    );

  /** The key of a filter, or all that were ever used. */
  const chosen = Effect.fnUntraced(function* (account: Account, { keyId }: UsageFilter) {
    if (keyId !== null) return [yield* keys.find(account, keyId)];
    return (yield* keys.list(account)).filter(({ lastUsedAt }) => lastUsedAt !== null);
  });

  return [
    page(
      paths.usage,
      Effect.fnUntraced(function* ({ owner: { account } }, query) {
        const filter = filterOf(query);
        const found = yield* byKey(yield* chosen(account, filter), filter.days);
        const only = filter.keyId === null ? undefined : found[0];
        const view = {
          days: only?.days ?? (yield* usageDays({ account: account.name }, filter.days)),
          byKey: only === undefined ? found : [],
          keys: yield* keys.list(account),
        };
        return usagePage(view, filter);
      }),
    ),
    page(
      paths.usageFile,
      Effect.fnUntraced(function* ({ owner: { account } }, query) {
        const filter = filterOf(query);
        const usage = yield* byKey(yield* chosen(account, filter), filter.days);
        return csvResponse(`usage-${filter.days}-days`, usageCsv(usage));
      }),
    ),
  ];
});

const filterOf = (query: Fields): UsageFilter => {
  const days = Number(query("days"));
  return {
    keyId: query("keyId") || null,
    days: Number.isInteger(days) && days >= 1 && days <= 90 ? days : 30,
  };
};
