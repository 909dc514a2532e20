import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { chatId } from "../test_services.ts";
import { flowServices, reasonOf, setupFlow as setup } from "./test_flows.ts";

const ada = chatId("10001");

describe("A flow without a session", () => {
  it.effect("a flow loses its first proof if the user's link is removed during the second sign-in", () =>
    Effect.gen(function* () {
      const { browser, byScope, link, removals } = yield* setup();
      yield* link("2");
      yield* browser.prove("chat", ada, byScope);
      const state = yield* browser.leave("game");
      yield* removals.unlink;
      assert.strictEqual(yield* reasonOf(browser.comeBack("game", state, "1")), "link_changed");
    }).pipe(Effect.provide(flowServices)),
  );
});
