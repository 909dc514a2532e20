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
import { GuildId, KeyId, Pid } from "@accountlink/core/ids";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { guildId } from "../parameter.ts";
import {
  expiresAt,
  graceSeconds,
  keyAccess,
  keyInPath,
  keyName,
  keyScope,
  keyStatus,
  networkList,
  originList,
  unlessLeftOut,
} from "./parameters.ts";
import { signedIn } from "./signed_in.ts";

const Limit = Schema.NullOr(Schema.Int);
const Texts = Schema.Array(Schema.String);

const Key = Schema.Struct({
  id: KeyId,
  display: Schema.String,
  name: Schema.String,
  scope: Schema.Literals(["global", "guild"]),
  guildId: Schema.NullOr(GuildId),
  pid: Pid,
  tier: Schema.Literals(["free", "premium"]),
  kind: Schema.Literals(["normal", "partner", "staff"]),
  access: Schema.Literals(["full", "read", "verify"]),
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

const KeyAnswer = { key: Key };
const IssuedKeyAnswer = { token: Schema.String, key: Key };

/** The fields that a client can set when it creates or changes a key. */
const rules = {
  access: unlessLeftOut(keyAccess),
  allowIps: unlessLeftOut(networkList("Addresses that may use it; empty for all")),
  denyIps: unlessLeftOut(networkList("Addresses that may not")),
  redirectOrigins: unlessLeftOut(originList),
  expiresAt: unlessLeftOut(expiresAt),
};

export const getKeys = signedIn("admin", "GET", "/keys", {
  id: "getKeys",
  summary: "The keys of the account, newest first; revoked ones for 30 days",
  parameters: {},
  data: { keys: Schema.Array(Key) },
});

export const createKey = signedIn("admin", "POST", "/keys", {
  id: "createKey",
  summary: "Create a key; only this response shows it in full",
  parameters: {
    name: keyName,
    scope: keyScope,
    guildId: guildId(),
    ...rules,
  },
  status: 201,
  data: IssuedKeyAnswer,
  errors: ["CONFLICT"],
});

export const patchKey = signedIn("admin", "PATCH", "/keys/:id", {
  id: "patchKey",
  summary: "Change a key",
  parameters: {
    id: keyInPath,
    name: unlessLeftOut(keyName),
    ...rules,
    status: unlessLeftOut(keyStatus),
  },
  data: KeyAnswer,
  errors: ["CONFLICT"],
});

export const revokeKey = signedIn("admin", "DELETE", "/keys/:id", {
  id: "revokeKey",
  summary: "Revoke a key",
  parameters: { id: keyInPath },
  data: KeyAnswer,
  errors: ["CONFLICT"],
});

export const rotateKey = signedIn("admin", "POST", "/keys/:id/rotate", {
  id: "rotateKey",
  summary: "Give a key a new secret; only this response shows it in full",
  parameters: { id: keyInPath, graceSeconds },
  data: IssuedKeyAnswer,
  errors: ["CONFLICT"],
});
