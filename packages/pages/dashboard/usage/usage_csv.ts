/** Converts usage to CSV, with one line for each day, key and group of routes that had requests. */
import { csvOf } from "../csv.ts";
import { nameOf } from "../look/owned_key.ts";
import type { KeyUsage } from "./usage_page.ts";
import { requestsOf } from "./usage_totals.ts";

export const usageCsv = (usage: ReadonlyArray<KeyUsage>): string =>
  csvOf(
    ["day", "keyId", "keyName", "group", "served", "refused", "errors"],
    usage.flatMap(({ key, days }) =>
      days.flatMap(({ day, groups }) =>
        groups
          .filter((counts) => requestsOf(counts) > 0)
          .map(({ group, served, refused, errors }) => [
            day,
            key.id,
            nameOf(key),
            group,
            served,
            refused,
            errors,
          ]),
      ),
    ),
  );
