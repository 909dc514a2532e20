import { guildOf } from "@accountlink/core";
import { type KeyDetails, maskedKey } from "@accountlink/core/keys";
import { type LimitSettings, quotaOf } from "@accountlink/core/limits";
import { isoTime, isoTimeOrNull } from "@accountlink/http/site";

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
    createdAt: isoTime(key.createdAt),
    expiresAt: isoTimeOrNull(key.expiresAt),
    lastUsedAt: isoTimeOrNull(key.lastUsedAt),
    previousSecretEndsAt: isoTimeOrNull(key.previousSecretEndsAt),
  };
};
