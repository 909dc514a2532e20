/**
 * Output of keys, without their secrets.
 */
import { type ApiKey, guildOf } from "@accountlink/core";
import { maskedKey } from "@accountlink/core/keys";
import { formatTimestamp, type Millis } from "@accountlink/core/timestamp";
import { scopeText } from "../../cli/flags.ts";
import { formatTable } from "../../cli/output.ts";

/** A key in JSON. */
export const keyJson = (key: ApiKey, now: Millis) => ({
  id: key.id,
  masked: maskedKey(key.id),
  name: key.name,
  account: key.scope.account,
  scope: key.scope.kind,
  guildId: guildOf(key.scope),
  pid: key.scope.pid,
  tier: key.tier,
  kind: key.kind,
  status: statusOf(key, now),
  expiresAt: key.expiresAt === null ? null : formatTimestamp(key.expiresAt),
  limits: key.limits,
  allowIps: key.allowIps,
  denyIps: key.denyIps,
  redirectOrigins: key.redirectOrigins,
  createdAt: formatTimestamp(key.createdAt),
});

/** Keys as a table. */
export const keyTable = (keys: ReadonlyArray<ApiKey>, now: Millis): string =>
  formatTable(
    ["KEY", "NAME", "ACCOUNT", "SCOPE", "TIER", "KIND", "STATUS", "EXPIRES"],
    keys.map((key) => [
      maskedKey(key.id),
      key.name,
      key.scope.account,
      scopeText(key.scope),
      key.tier,
      key.kind,
      statusOf(key, now),
      key.expiresAt === null ? "never" : formatTimestamp(key.expiresAt),
    ]),
  );

const statusOf = ({ status, expiresAt }: ApiKey, now: Millis): ApiKey["status"] | "expired" =>
  status === "active" && expiresAt !== null && expiresAt <= now ? "expired" : status;
