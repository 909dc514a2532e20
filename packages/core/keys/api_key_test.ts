import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { SecureRandom } from "effect/crypto";
import type { KeyId } from "../ids.ts";
import { generateToken, keyIdOf, maskedKey, randomText } from "./api_key.ts";

const test = testWith(SecureRandom.layerWebCrypto);

test("generated keys differ and have the documented form", function* () {
  const tokens = yield* Effect.forEach(Array.from({ length: 100 }), () => generateToken());
  for (const { id, token } of tokens) assert.strictEqual(keyIdOf(token), id);
  assert.strictEqual(new Set(tokens.map(({ token }) => token)).size, 100);
});

test("a generated key has the given id, and its masked form does not show the secret", function* () {
  const { id, token } = yield* generateToken("Aa0Bb1Cc2Dd3" as KeyId);
  assert.strictEqual(id, "Aa0Bb1Cc2Dd3");
  assert.strictEqual(maskedKey(id), "alk_Aa0Bb1Cc2Dd3_…");
  assert.notInclude(maskedKey(id), token.slice(-43));
});

test("randomText uses only characters of its alphabet", function* () {
  const random = yield* SecureRandom.SecureRandom;
  assert.match(yield* randomText(random, 200, 36), /^[0-9a-z]{200}$/);
  assert.match(yield* randomText(random, 200, 62), /^[0-9A-Za-z]{200}$/);
});
