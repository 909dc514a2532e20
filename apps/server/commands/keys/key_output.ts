/** Formats keys without their secrets. */
import { guildOf } from "@accountlink/core";
import { type KeyDetails, maskedKey } from "@accountlink/core/keys";
import { formatTimestamp, type Millis, timeOrNull } from "@accountlink/core/timestamp";
import { scopeText } from "../../cli/flags.ts";
import { tableOr } from "../../cli/output.ts";

export const keyJson = (key: KeyDetails, now: Millis) => ({
  id: key.id,
  masked: maskedKey(key.id),
  name: key.name,
  account: key.scope.account,
  scope: key.scope.kind,
  guildId: guildOf(key.scope),
  pid: key.scope.pid,
  tier: key.tier,
  kind: key.kind,
  access: key.access,
  status: statusOf(key, now),
  expiresAt: timeOrNull(key.expiresAt),
  limits: key.limits,
  allowIps: key.allowIps,
  denyIps: key.denyIps,
  redirectOrigins: key.redirectOrigins,
  createdAt: formatTimestamp(key.createdAt),
  lastUsedAt: timeOrNull(key.lastUsedAt),
  previousSecretEndsAt: timeOrNull(key.previousSecretEndsAt),
  revokedAt: timeOrNull(key.revokedAt),
});

/** The secret of a key. Scripts may still read it by its former name `key`. */
export const tokenJson = (token: string) => ({ token, key: token });

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
