/** Accounts and their API keys. */
import type { ApiKey } from "@accountlink/core";
import type {
  Account,
  AccountStatus,
  KeyAccess,
  KeyKind,
  KeyStatus,
  KeyUpdate,
  Tier,
} from "@accountlink/core/keys";
import type { KeyLimits } from "@accountlink/core/limits";
import { type Arbitrary, boolean, constant, constantFrom, nat, oneof, record, tuple } from "fast-check";
import { orNull, recordOf } from "./fields.ts";
import { chatId, hash, keyId } from "./ids.ts";
import { addressLists } from "./key_lists.ts";
import { dataScope } from "./links.ts";
import { millis, name } from "./texts.ts";

export const tier: Arbitrary<Tier> = constantFrom("free", "premium");

export const account = recordOf<Account>({
  name,
  chatId: orNull(chatId),
  tier,
  status: constantFrom<AccountStatus>("active", "suspended"),
});

/** A key in full, as a client sends it. */
export const token: Arbitrary<string> = tuple(keyId, hash).map(([id, secret]) => `alk_${id}_${secret}`);

/** Limits from 0, which is none, to a thousand. */
export const keyLimits: Arbitrary<KeyLimits> = oneof(
  constant<KeyLimits>("none"),
  record(
    { perWindow: nat(1_000), windowMs: nat(1_000), daily: nat(1_000), verifyDaily: nat(1_000) },
    { requiredKeys: [] },
  ),
);

export const keyKind: Arbitrary<KeyKind> = constantFrom("normal", "partner", "staff");

export const keyAccess: Arbitrary<KeyAccess> = constantFrom("full", "read", "verify");

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
});

/** A change of some fields of a key. */
export const keyUpdate: Arbitrary<KeyUpdate> = record(
  {
    name,
    tier,
    kind: keyKind,
    access: keyAccess,
    expiresAt: orNull(millis),
    limits: keyLimits,
    ...addressLists,
    status: constantFrom("active", "disabled"),
  },
  { requiredKeys: [] },
);
