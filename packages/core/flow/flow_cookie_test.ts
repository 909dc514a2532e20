import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { origin } from "../sessions/test_sessions.ts";
import { flowServices, reasonOf, setupFlow as setup } from "./test_flows.ts";

describe("The cookie of a flow", () => {
  it.effect("the cookie of a flow omits an entry that is too long", () =>
    Effect.gen(function* () {
      const { browser, byScope } = yield* setup();
      const long = { ...byScope, redirect: `${origin}/${"ä".repeat(2_000)}` };
      yield* browser.show(long);
      assert.isBelow(browser.jar.cookie?.length ?? 0, 100);
      assert.strictEqual(yield* reasonOf(browser.leave("chat")), "lost");
      yield* browser.leave("chat", long);
    }).pipe(Effect.provide(flowServices)),
  );

  it.effect("no flow is found for a cookie whose entry was changed", () =>
    Effect.gen(function* () {
      const { browser, entry } = yield* setup();
      yield* browser.show(entry);
      const [token, deadline] = browser.jar.cookie?.split(".") ?? [];
      for (const mark of ["", "x", "bnVsbA", "eyJzaWQiOjF9"]) {
        browser.jar.cookie = `${token}.${deadline}.${mark}`;
        assert.strictEqual(yield* reasonOf(browser.leave("chat")), "lost");
      }
    }).pipe(Effect.provide(flowServices)),
  );
});
