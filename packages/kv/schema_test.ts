import { StorageFault } from "@accountlink/core";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer } from "effect";
import { encode } from "./keys.ts";
import { memoryKv } from "./memory_kv.ts";
import { claimSchema, newestSchema } from "./schema.ts";
import { layer } from "./storage_kv.ts";

test("refuses data of a later release, and nodes that use it are not ready any more", function* () {
  const [kv, key] = [memoryKv(), encode(["schema"])];
  yield* claimSchema(kv);
  const fault = Context.get(yield* Layer.build(layer(Effect.succeed(kv))), StorageFault);
  expect(yield* fault).toBeNull();
  const [stored] = yield* kv.get([key]);
  const value = stored?.value.replace(String(newestSchema), String(newestSchema + 1)) ?? "";
  yield* kv.commit([], [{ key, value }]);
  expect(yield* fault).toContain(`version ${newestSchema + 1}, expected ${newestSchema} or lower`);
  expect(yield* Effect.flip(claimSchema(kv))).toMatchObject({ _tag: "StorageTooNew" });
});
