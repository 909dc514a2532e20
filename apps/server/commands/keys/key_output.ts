/** Formats keys without their secrets. */
import { type KeyDetails, maskedKey } from "@accountlink/core/keys";
import { type Millis, timeOrNull } from "@accountlink/core/timestamp";
import { DashboardKeys } from "@accountlink/http-api";
import { scopeText } from "../../cli/flags.ts";
import { tableOr } from "../../cli/output.ts";

export const keyJson = (key: KeyDetails, now: Millis) => ({
  ...DashboardKeys.keyJson(key, key.limits),
  account: key.scope.account,
  status: statusOf(key, now),
  revokedAt: timeOrNull(key.revokedAt),
});

export const keyTable = (keys: ReadonlyArray<KeyDetails>, now: Millis, none: string): string =>
  tableOr(
    none,
    ["KEY", "NAME", "ACCOUNT", "SCOPE", "TIER", "KIND", "ACCESS", "STATUS", "EXPIRES", "LAST USED"],
    keys.map((key) => [
      maskedKey(key.id),
      key.name,
      key.scope.account,
      scopeText(key.scope),
      key.tier,
      key.kind,
      key.access,
      statusOf(key, now),
      timeOrNull(key.expiresAt) ?? "never",
      timeOrNull(key.lastUsedAt) ?? "never",
    ]),
  );

const statusOf = (
  { status, suspended, expiresAt }: KeyDetails,
  now: Millis,
): KeyDetails["status"] | "suspended" | "expired" => {
  if (status === "active" && suspended) return "suspended";
  return status === "active" && expiresAt !== null && expiresAt <= now ? "expired" : status;
};
