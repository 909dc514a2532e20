import { assert, testWith } from "@accountlink/test-servers/effect";
import { flowServices, reasonOf, setupFlow as setup } from "./test_flows.ts";

const test = testWith(flowServices);

test("cancelling ends a flow without a session", function* () {
  const { browser, byScope, gameOf } = yield* setup();
  yield* browser.walk(byScope);
  const form = yield* browser.form(byScope);
  yield* browser.cancel(form);
  assert.strictEqual(yield* reasonOf(browser.send(form)), "lost");
  assert.strictEqual(yield* reasonOf(browser.cancel(form)), "lost");
  assert.isNull(yield* gameOf);
});

test("cancelling one session keeps the flow of another session", function* () {
  const one = yield* setup();
  const other = yield* setup();
  yield* one.browser.walk(one.entry);
  yield* one.browser.cancel(yield* one.browser.form(other.entry));
  assert.strictEqual((yield* other.read).state, "cancelled");
  yield* one.browser.confirm(one.entry);
  assert.strictEqual((yield* one.read).state, "completed");
});
