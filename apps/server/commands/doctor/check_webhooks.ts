/** Checks whether receivers of webhooks answer. */
import { hourMs } from "@accountlink/core/timestamp";
import type { StorageSql } from "@accountlink/sql";
import { Clock, Effect } from "effect";
import { formatCount } from "../../cli/output.ts";
import { ok, warn } from "./finding.ts";

/** @param state the state of the storage; null if it could not be read or does not exist yet */
export const checkWebhooks = Effect.fnUntraced(function* (
  state: { readonly webhooks: StorageSql.WebhookCounts } | null,
) {
  if (state === null || state.webhooks.all === 0) return [];
  const { all, disabled, failingSince } = state.webhooks;
  const failing = failingSince === null ? 0 : (yield* Clock.currentTimeMillis) - failingSince;
  const failingHours = Math.floor(failing / hourMs);
  const troubles = [
    ...(disabled > 0 ? [`${formatCount(disabled)} disabled`] : []),
    ...(failingHours > 0 ? [`one fails for ${formatCount(failingHours)} h`] : []),
  ];
  const made = `${formatCount(all)} made`;
  return [
    troubles.length > 0
      ? warn("webhooks", [made, ...troubles].join(", "), "See which: accountlink webhooks list")
      : ok("webhooks", `${made}, and none fails for long`),
  ];
});
