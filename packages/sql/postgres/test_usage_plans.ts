/** For tests: SQL that adds usage of many keys, and operations of `UsageStore`. */
import { KeyId } from "@accountlink/core";
import { dayMs } from "@accountlink/core/timestamp";
import { UsageStore } from "@accountlink/core/usage";

/** SQL that adds usage of every key on each of 20 days. */
export const fillUsage = (accounts: number) => `
  INSERT INTO usage_days (key_id, starts_at, route_group, served, refused, errors)
    SELECT lpad(i::text, 12, '0'), day * ${dayMs}::bigint, 'lookup', 1, 0, 0
    FROM generate_series(1, ${accounts * 10}) AS i, generate_series(1, 20) AS day;
`;

const keys = Array.from({ length: 20 }, (_, i) => KeyId.make(`${1_000 + i * 100}`.padStart(12, "0")));
const [key] = keys as [KeyId];

export const usageOperations = {
  "UsageStore.add": UsageStore.use((usage) =>
    usage.add({
      meter: crypto.randomUUID(),
      sequence: 1,
      day: 20 * dayMs,
      counts: keys.map((each) => ({ key: each, group: "lookup", served: 1, refused: 0, errors: 0 })),
      uses: keys.map((each) => ({ key: each, at: 20 * dayMs })),
    }),
  ),
  "UsageStore.days of a key": UsageStore.use((usage) => usage.days({ key }, dayMs)),
  "UsageStore.days of an account": UsageStore.use((usage) =>
    usage.days({ account: "account 100" }, 16 * dayMs),
  ),
  "UsageStore.daysByKey": UsageStore.use((usage) => usage.daysByKey("account 100", 16 * dayMs)),
};
