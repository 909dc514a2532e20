import { OwnedKeys } from "@accountlink/core";
import type { Account } from "@accountlink/core/keys";
import { makeUsageDays } from "@accountlink/core/usage";
import { Effect } from "effect";
import { type Fields, type OwnerPages } from "../owner_pages.ts";
import { csvResponse } from "../page_response.ts";
import { paths } from "../paths.ts";
import { usageCsv } from "./usage_csv.ts";
import { type UsageFilter, usagePage } from "./usage_page.ts";

export const usageRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const keys = yield* OwnedKeys;
  const usage = yield* makeUsageDays;

  /** Reads the usage of the key that the filter selects, or of every used key if the filter selects none. */
  const byKey = Effect.fnUntraced(function* (account: Account, { keyId, days }: UsageFilter) {
    if (keyId !== null) {
      const key = yield* keys.find(account, keyId);
      return [{ key, days: yield* usage.of({ key: key.id }, days) }];
    }
    const daysOf = yield* usage.byKey(account.name, days);
    const used = (yield* keys.list(account)).filter(({ lastUsedAt }) => lastUsedAt !== null);
    return used.map((key) => ({ key, days: daysOf(key.id) }));
  });

  return [
    page(
      paths.usage,
      Effect.fnUntraced(function* ({ owner: { account } }, query) {
        const filter = filterOf(query);
        const found = yield* byKey(account, filter);
        const only = filter.keyId === null ? undefined : found[0];
        const view = {
          days: only?.days ?? (yield* usage.of({ account: account.name }, filter.days)),
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
        return csvResponse(`usage-${filter.days}-days`, usageCsv(yield* byKey(account, filter)));
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
