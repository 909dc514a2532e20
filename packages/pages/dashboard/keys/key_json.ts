import { guildOf } from "@accountlink/core";
import { type KeyDetails, maskedKey } from "@accountlink/core/keys";
import { type LimitSettings, quotaOf } from "@accountlink/core/limits";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";

export const keyJson = (key: KeyDetails, limits: LimitSettings) => {
  const { id, name, scope, tier, kind, access, status, allowIps, denyIps, redirectOrigins } = key;
  const { perWindow, windowMs, daily, verifyDaily } = quotaOf(key.limits, limits[tier]);
  return {
    id,
    display: maskedKey(id),
    name,
    scope: scope.kind,
    guildId: guildOf(scope),
    pid: scope.pid,
    tier,
    kind,
    access,
    status,
    limits: { perWindow, windowMs, daily, verifyDaily },
    allowIps,
    denyIps,
    redirectOrigins,
    createdAt: formatTimestamp(key.createdAt),
    expiresAt: timeOrNull(key.expiresAt),
    lastUsedAt: timeOrNull(key.lastUsedAt),
    previousSecretEndsAt: timeOrNull(key.previousSecretEndsAt),
  };
};
