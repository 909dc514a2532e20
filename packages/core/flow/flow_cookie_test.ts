import { assert, testWith } from "@accountlink/test-servers/effect";
import { origin } from "../sessions/test_sessions.ts";
import { flowServices, reasonOf, setupFlow as setup } from "./test_flows.ts";

const test = testWith(flowServices);

test("the cookie of a flow omits an entry that is too long", function* () {
  const { browser, byScope } = yield* setup();
  const long = { ...byScope, redirect: `${origin}/${"ä".repeat(2_000)}` };
  yield* browser.show(long);
  assert.isBelow(browser.jar.cookie?.length ?? 0, 100);
  assert.strictEqual(yield* reasonOf(browser.leave("chat")), "lost");
  yield* browser.leave("chat", long);
});

test("no flow is found for a cookie whose entry was changed", function* () {
  const { browser, entry } = yield* setup();
  yield* browser.show(entry);
  const [token, deadline] = browser.jar.cookie?.split(".") ?? [];
  for (const mark of ["", "x", "bnVsbA", "eyJzaWQiOjF9"]) {
    browser.jar.cookie = `${token}.${deadline}.${mark}`;
    assert.strictEqual(yield* reasonOf(browser.leave("chat")), "lost");
  }
});
