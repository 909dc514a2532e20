import { assert } from "@accountlink/test-servers/effect";
import { deployment, pass, test } from "./courier/test_deployment.ts";
import type { PlanSettings } from "./role_plan.ts";

const officer = "10";

const ofGroup: PlanSettings["rules"] = [
  { roleId: officer, when: { is: "group", groupId: "9", minRank: null, maxRank: null }, nickname: null },
];

const gainedIn = (preview: {
  readonly roles: ReadonlyArray<{ readonly gained: { readonly linked: number } }>;
}) => preview.roles.map(({ gained }) => gained.linked);

test("a preview waits for a source that stops to answer, and then knows everybody", function* () {
  const { preview, broken, linkFirst } = yield* deployment;
  yield* linkFirst(150);
  broken.areMembersHidden = true;
  const read = yield* preview({ rules: ofGroup });
  yield* pass(0.01, 0.01);
  broken.areGroupsClosed = true;
  yield* pass(60);
  const waiting = yield* read;
  assert.strictEqual(waiting.state, "running");
  assert.isBelow(waiting.done, 250);
  broken.areGroupsClosed = false;
  yield* pass(10);
  const found = yield* read;
  assert.deepInclude(found, { state: "done", done: 250, total: 250, unknown: 0 });
  assert.deepEqual(gainedIn(found), [150]);
});

test("a preview asks again for members without an answer, and counts each of them once", function* () {
  const { preview, broken, linkFirst } = yield* deployment;
  yield* linkFirst(60);
  broken.areMembersHidden = true;
  broken.areGroupsClosed = true;
  const read = yield* preview({ rules: ofGroup });
  yield* pass(3);
  assert.deepInclude(yield* read, { state: "running", done: 250, unknown: 60 });
  broken.areGroupsClosed = false;
  yield* pass(10);
  const found = yield* read;
  assert.deepInclude(found, { state: "done", done: 250, total: 250, unknown: 0 });
  assert.deepEqual(gainedIn(found), [60]);
});

test("a preview ends without a source that answers nobody, and says for how many it is unknown", function* () {
  const { preview, broken, linkFirst } = yield* deployment;
  yield* linkFirst(60);
  broken.areMembersHidden = true;
  broken.areGroupsClosed = true;
  const guest = { roleId: "2", when: { is: "linked" }, nickname: null } as const;
  const read = yield* preview({ rules: [...ofGroup, guest] });
  yield* pass(60);
  const found = yield* read;
  assert.deepInclude(found, { state: "done", done: 250, unknown: 60 });
  assert.deepEqual(gainedIn(found), [0, 60]);
});

test("a preview fails if the chat platform lists no members for ten minutes", function* () {
  const { preview, broken, takeRequests } = yield* deployment;
  broken.isDown = true;
  const read = yield* preview({ rules: ofGroup });
  yield* pass(590, 5);
  assert.strictEqual((yield* read).state, "running");
  assert.isAtMost(takeRequests(), 40);
  yield* pass(100, 5);
  assert.strictEqual((yield* read).state, "failed");
});
