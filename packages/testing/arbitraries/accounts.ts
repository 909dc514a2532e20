import type { ApiKey } from "@accountlink/core";
import { type KeyAccess, type KeyStatus, keyAccesses, type Tier, tiers } from "@accountlink/core/keys";
import { type KeyKind, type KeyLimits, keyKinds } from "@accountlink/core/limits";
import { type Arbitrary, boolean, constant, constantFrom, nat, oneof, record, tuple } from "fast-check";
import { orNull, recordOf } from "./fields.ts";
import { chatId, hash, keyId } from "./ids.ts";
import { addressLists } from "./key_lists.ts";
import { dataScope } from "./links.ts";
import { millis, name } from "./texts.ts";

export const tier: Arbitrary<Tier> = constantFrom(...tiers);

/**
 * A complete API key with its secret, as a client sends it.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import { isAccepted, keyIdOf } from "@accountlink/core/keys";
 *
 * // A revoked key is never accepted.
 * const revoked = Arbitrary.apiKey({ status: fc.constant("revoked") });
 * fc.assert(fc.property(revoked, Arbitrary.millis, (key, now) => !isAccepted(key, now)));
 * fc.assert(fc.property(Arbitrary.token, (token) => keyIdOf(token) !== null));
 * ```
 */
export const token: Arbitrary<string> = tuple(keyId, hash).map(([id, secret]) => `alk_${id}_${secret}`);

/**
 * `"none"`, or limits of a key. Each limit is a number from 0 to 1,000.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import type { NewKey } from "@accountlink/core/keys";
 *
 * // Random input for a dashboard that creates keys.
 * const newKey = fc.record<NewKey>({
 *   account: fc.constant({ name: "acme", chatId: null, tier: "free" }),
 *   target: Arbitrary.scopeTarget,
 *   tier: Arbitrary.tier,
 *   kind: Arbitrary.keyKind,
 *   access: Arbitrary.keyAccess,
 *   status: Arbitrary.keyStatus,
 *   limits: Arbitrary.keyLimits,
 * });
 * fc.sample(newKey, { numRuns: 3, seed: 1 }).length; // 3
 * ```
 */
export const keyLimits: Arbitrary<KeyLimits> = oneof(
  constant<KeyLimits>("none"),
  record(
    { perWindow: nat(1_000), windowMs: nat(1_000), daily: nat(1_000), verifyDaily: nat(1_000) },
    { requiredKeys: [] },
  ),
);

export const keyKind: Arbitrary<KeyKind> = constantFrom(...keyKinds);

export const keyAccess: Arbitrary<KeyAccess> = constantFrom(...keyAccesses);

export const keyStatus: Arbitrary<KeyStatus> = constantFrom("active", "disabled", "revoked");

export const apiKey = recordOf<ApiKey>({
  id: keyId,
  name,
  scope: dataScope,
  tier,
  kind: keyKind,
  access: keyAccess,
  status: keyStatus,
  suspended: boolean(),
  expiresAt: orNull(millis),
  limits: keyLimits,
  ...addressLists,
  createdAt: millis,
  madeBy: orNull(chatId),
});
