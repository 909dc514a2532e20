import { KeyId } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { makeKey } from "@accountlink/testing";
import { Effect, Exit, Option } from "effect";
import { describe, expect } from "vitest";
import { origin, refuseWritesTo, scope, Tampering, test } from "../sqlite/test_tampering.ts";

const key = makeKey(scope, {
  id: KeyId.make("Aa0Bb1Cc2Dd3"),
  limits: { daily: 5 },
  allowIps: ["203.0.113.7"],
  createdAt: 1,
});

describe("keys", () => {
  test.each([
    "tier = 'gold'",
    "status = ''",
    "access = 'all'",
    "limits = '{\"daily\":'",
    'limits = \'{"daily":"5"}\'',
    "limits = '\"some\"'",
    "allow_ips = '[203]'",
    "redirect_origins = 'null'",
    "deny_ips = CAST(x'ff' AS TEXT)",
  ])("a key is refused when its row has %s", function* (damage) {
    const { tamper } = yield* Tampering;
    const keys = yield* KeyStore;
    yield* keys.insertKey({ ...origin, key, hash: "hash", maxKeys: null, at: 1 });
    expect(yield* keys.listKeys("acme", 1)).toMatchObject([key]);
    tamper(`UPDATE keys SET ${damage}`);
    for (const read of [keys.findById(key.id), keys.findByHash("hash"), keys.listKeys(null, 1)]) {
      const error = yield* Effect.flip<unknown, unknown, never>(read);
      expect(error).toMatchObject({ _tag: "StoreUnavailable", cause: { _tag: "UnreadableRow" } });
      // The message must not repeat the damaged value, which is an address.
      expect(JSON.stringify(error)).not.toContain("203");
    }
  });
});

describe("a write of keys", () => {
  const attempts: Readonly<Record<string, (keys: KeyStore["Service"]) => Effect.Effect<unknown, unknown>>> = {
    insertKey: (keys) => {
      const other = { ...key, id: KeyId.make("Ee4Ff5Gg6Hh7") };
      return keys.insertKey({ ...origin, key: other, hash: "other", maxKeys: null, at: 2 });
    },
    rotateKey: (keys) => keys.rotateKey({ ...origin, id: key.id, hash: "other", at: 2, previousUntil: 3 }),
    updateKey: (keys) => keys.updateKey({ ...origin, id: key.id, update: { access: "read" }, at: 2 }),
  };

  test.each(Object.entries(attempts))(
    "a write of keys rolls back if its last statement fails: %s",
    function* ([, attempt]) {
      const { tamper } = yield* Tampering;
      const keys = yield* KeyStore;
      yield* keys.insertKey({ ...origin, key, hash: "hash", maxKeys: null, at: 1 });
      tamper(refuseWritesTo("audit_log"));
      expect(Exit.isFailure(yield* Effect.exit(attempt(keys)))).toBe(true);
      expect(yield* keys.listKeys(null, 1)).toMatchObject([key]);
      expect(yield* keys.findByHash("hash")).toEqual(Option.some({ key, endsAt: null }));
      expect(yield* keys.findByHash("other")).toEqual(Option.none());
    },
  );
});
