import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { FlowStore } from "@accountlink/core/flow";
import { SignInStore } from "@accountlink/core/sign_ins";
import { expect, test } from "@accountlink/test-servers/effect";
import { makeBegunSignIn, makeFlow } from "@accountlink/testing";
import { Effect } from "effect";
import { StorageSql } from "../mod.ts";
import { scope, storeScope } from "../test_scope.ts";
import { makeTempFolder } from "./test_folder.ts";

/** Begins six sign-ins and verifications at once. Returns how many are stored when each of them is answered. */
const beginSix = Effect.fnUntraced(function* (folder: string) {
  const [flows, signIns] = [yield* FlowStore, yield* SignInStore];
  const other = new DatabaseSync(join(folder, "accountlink.db"), { readOnly: true });
  const stored = other.prepare(`
    SELECT (SELECT COUNT(*) FROM begun_sign_ins) + (SELECT COUNT(*) FROM verification_flows) AS count`);
  const begin = (index: number) =>
    index % 2 === 0 ? flows.begin(makeFlow(scope)) : signIns.begin(makeBegunSignIn());
  const seen = yield* Effect.forEach(
    Array.from({ length: 6 }, (_, index) => index),
    (index) => Effect.map(begin(index), () => Number(stored.get()?.["count"])),
    { concurrency: "unbounded" },
  );
  other.close();
  return seen;
});

test("sign-ins and verifications that begin together share a commit", function* () {
  const folder = yield* makeTempFolder;
  const began = Effect.gen(function* () {
    yield* storeScope;
    // A machine that is busy for 20 ms ends the group of a round.
    for (let round = 1; round <= 50; round++) {
      const seen = yield* beginSix(folder);
      if (seen.every((count) => count === 6 * round)) return round;
    }
    return null;
  });
  expect(yield* Effect.provide(began, StorageSql.layerEmbedded({ folder }))).not.toBeNull();
});
