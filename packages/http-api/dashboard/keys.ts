/**
 * Dashboard routes for the keys of an account.
 *
 * @example
 * ```ts
 * const ofOne = [DashboardKeys.patchKey, DashboardKeys.revokeKey, DashboardKeys.rotateKey];
 * const all = [DashboardKeys.getKeys, DashboardKeys.createKey, ...ofOne];
 * new Set(all.map(pathTemplate)).has("/dashboard/api/keys/{id}"); // true
 * ```
 */

import { guildOf } from "@accountlink/core";
import { parseNetwork } from "@accountlink/core/addresses";
import { GuildId, KeyId, Pid } from "@accountlink/core/ids";
import { type KeyDetails, keyAccesses, maskedKey, tiers } from "@accountlink/core/keys";
import { keyKinds } from "@accountlink/core/limits";
import { newName } from "@accountlink/core/name_text";
import { isOrigin } from "@accountlink/core/origin";
import { formatTimestamp, TimestampMillis, timeOrNull } from "@accountlink/core/timestamp";
import { Option, Predicate, Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { guildId, inPath, oneOf, required, withFallback } from "../parameter.ts";
import { demoGuild, keyId, keyScope, orNull, signedIn, unlessLeftOut } from "./signed_in.ts";

const longestName = 80;

const keyInPath = inPath(keyId("Public id of the key"));

const keyName = required(newName(longestName), { is: "text", most: longestName }, "Your name for it");

const mostEntries = 100;

/**
 * @param expected what an entry has to be
 * @param explain why an entry is refused
 */
const listOf = (
  isRight: (text: string) => boolean,
  expected: string,
  reason: string,
  description: string,
  explain: (entry: string) => string,
) => ({
  ...required(
    Schema.Array(Schema.String.check(Schema.makeFilter(isRight, { expected }))).check(
      Schema.isMaxLength(mostEntries),
    ),
    `expected a list of at most ${mostEntries} ${reason}`,
    description,
  ),
  explain: (list: unknown) => {
    const texts = Array.isArray(list) ? list.filter(Predicate.isString) : [];
    const wrong = texts.find((entry) => !isRight(entry));
    return wrong === undefined ? undefined : explain(wrong);
  },
});

const networkList = (description: string) =>
  listOf(
    (text) => Option.isSome(parseNetwork(text)),
    "an IP address or a CIDR",
    "addresses or CIDRs",
    description,
    (entry) => `“${entry}” is neither an address, such as 203.0.113.7, nor a range, such as 203.0.113.0/24`,
  );

const originReason = (entry: string): string => {
  const url = URL.canParse(entry) ? new URL(entry) : null;
  return url !== null && /^https?:$/.test(url.protocol)
    ? `“${entry}” is an address of a page; enter its site alone: ${url.origin}`
    : `“${entry}” is not a site; it begins with https://, such as https://example.com`;
};

const longestGrace = 604_800;

const graceSeconds = withFallback(
  required(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: longestGrace })),
    `expected whole seconds from 0 to ${longestGrace}`,
    "Seconds that the previous secret stays valid",
  ),
  86_400,
);

const Limit = Schema.NullOr(Schema.Int);
const Texts = Schema.Array(Schema.String);

const Key = Schema.Struct({
  id: KeyId,
  display: Schema.String,
  name: Schema.String,
  scope: Schema.Literals(["global", "guild"]),
  guildId: Schema.NullOr(GuildId),
  pid: Pid,
  tier: Schema.Literals(tiers),
  kind: Schema.Literals(keyKinds),
  access: Schema.Literals(keyAccesses),
  status: Schema.Literals(["active", "disabled", "revoked"]),
  limits: Schema.Struct({ perWindow: Limit, windowMs: Schema.Int, daily: Limit, verifyDaily: Limit }),
  allowIps: Texts,
  denyIps: Texts,
  redirectOrigins: Texts,
  createdAt: IsoTime,
  expiresAt: Schema.NullOr(IsoTime),
  lastUsedAt: Schema.NullOr(IsoTime),
  previousSecretEndsAt: Schema.NullOr(IsoTime),
}).annotate({ identifier: "OwnedKey" });

/** A key in the form of the contract. @internal */
export const keyJson = <L>(key: KeyDetails, limits: L) => ({
  id: key.id,
  display: maskedKey(key.id),
  name: key.name,
  scope: key.scope.kind,
  guildId: guildOf(key.scope),
  pid: key.scope.pid,
  tier: key.tier,
  kind: key.kind,
  access: key.access,
  status: key.status,
  limits,
  allowIps: key.allowIps,
  denyIps: key.denyIps,
  redirectOrigins: key.redirectOrigins,
  createdAt: formatTimestamp(key.createdAt),
  expiresAt: timeOrNull(key.expiresAt),
  lastUsedAt: timeOrNull(key.lastUsedAt),
  previousSecretEndsAt: timeOrNull(key.previousSecretEndsAt),
});

const KeyAnswer = { key: Key };
const IssuedKeyAnswer = { token: Schema.String, key: Key };

/** The fields that a client can set when it creates or changes a key. */
const rules = {
  access: unlessLeftOut(
    oneOf(
      keyAccesses,
      "What the key may do: everything in /v2, lookups, verification sessions with the lookups that they " +
        "need, these and sessions that name a player, or everything in /v2 and to manage communities " +
        "(`manage`, which only an owner may choose)",
    ),
  ),
  allowIps: unlessLeftOut(networkList("Addresses or CIDRs that may use the key; empty for all")),
  denyIps: unlessLeftOut(
    networkList("Addresses or CIDRs that may not use the key, also if the other list allows them"),
  ),
  redirectOrigins: unlessLeftOut(
    listOf(
      isOrigin,
      'an origin such as "https://example.com"',
      'origins such as "https://example.com"',
      "Origins to which a verification flow of the key may redirect",
      originReason,
    ),
  ),
  expiresAt: unlessLeftOut({
    ...orNull(
      TimestampMillis,
      "expected an ISO 8601 timestamp or null",
      "When the key expires; null for never",
    ),
    isText: true,
  }),
};

export const getKeys = signedIn("admin_of_all", "GET", "/keys", {
  id: "getKeys",
  summary: "The keys of the account, newest first; revoked ones for 30 days",
  parameters: {},
  data: { keys: Schema.Array(Key) },
});

export const createKey = signedIn("admin_of_all", "POST", "/keys", {
  id: "createKey",
  summary: "Create a key; only this response shows it in full",
  parameters: { name: keyName, scope: keyScope, guildId: guildId(), ...rules },
  status: 201,
  example: { name: "bot", scope: "guild", ...demoGuild, access: "read" },
  data: IssuedKeyAnswer,
  refuses: ["bot_not_in_guild", "not_guild_manager", "platform_refusals", "key_limit", "key_rate"],
});

export const patchKey = signedIn("admin_of_all", "PATCH", "/keys/:id", {
  id: "patchKey",
  summary: "Change a key",
  parameters: {
    id: keyInPath,
    name: unlessLeftOut(keyName),
    ...rules,
    status: unlessLeftOut(oneOf(["active", "disabled"], "Whether requests with the key are accepted")),
  },
  example: { allowIps: ["203.0.113.0/24"], status: "active" },
  data: KeyAnswer,
  refuses: ["key_revoked"],
});

export const revokeKey = signedIn("admin_of_all", "DELETE", "/keys/:id", {
  id: "revokeKey",
  summary: "Revoke a key",
  parameters: { id: keyInPath },
  data: KeyAnswer,
  refuses: ["key_revoked"],
});

export const rotateKey = signedIn("admin_of_all", "POST", "/keys/:id/rotate", {
  id: "rotateKey",
  summary: "Give a key a new secret; only this response shows it in full",
  parameters: { id: keyInPath, graceSeconds },
  example: { graceSeconds: 3_600 },
  data: IssuedKeyAnswer,
  refuses: ["key_revoked"],
});
