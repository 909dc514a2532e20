import { PlatformMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { aMember } from "@accountlink/testing";
import { Effect, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { type Actor, type AuditAction, AuditLog } from "../audit/audit.ts";
import { CommunityStore } from "../communities/community_store.ts";
import { EventStore } from "../events/event_store.ts";
import type { ChatId, GameId, GuildId, Pid } from "../ids.ts";
import { ImportStore } from "../imports/import_store.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import type { GameProof } from "../links/link_proof.ts";
import { LinkStore } from "../links/link_store.ts";
import { noPlan } from "../roles/role_plan.ts";
import { RolePlanStore } from "../roles/role_plan_store.ts";
import { RolePlans } from "../roles/role_plans.ts";
import { chatId, gameId, later, operator, platform, servicesOn, startNodeOn } from "../test_services.ts";
import * as Upgrades from "./upgrades.ts";

const [ada, bob, cyd, dan] = ["10001", "10002", "10003", "10004"].map(chatId) as [
  ChatId,
  ChatId,
  ChatId,
  ChatId,
];
const [chess, poker] = [gameId("1"), gameId("2")];
const [member, boss] = ["1", "8"];

const guildIds = ["71", "72", "73", "74", "75"].map((id) => id as GuildId) as [
  GuildId,
  GuildId,
  GuildId,
  GuildId,
  GuildId,
];

/** Ada's highest role is below Boss. */
const guild = {
  name: null,
  bot: true,
  owner: dan,
  roles: [
    { id: boss, name: "Boss", assignable: true, permissions: ["administrator" as const] },
    { id: "5", name: "Staff", assignable: true },
    { id: member, name: "Member", assignable: true },
  ],
  members: [
    aMember(ada, { manager: true, roles: [{ id: "5", name: "Staff" }] }),
    aMember(dan, { manager: true }),
  ],
};

const test = testWith(
  servicesOn(PlatformMemory.layer({ ...platform, guilds: guildIds.map((id) => ({ ...guild, id })) })),
);

const runNode = Effect.scoped(
  Effect.andThen(Layer.build(Layer.fresh(Upgrades.layer)), TestClock.adjust("1 minute")),
);

/**
 * Starts a node that dies when it has made the first change of its first upgrade, or of its second one: its next change
 * does not end, and it reaches no store any more.
 */
const startDying = Effect.fnUntraced(function* () {
  const [links, plans] = [yield* LinkStore, yield* RolePlans];
  let made = 0;
  const once = <A, E, R>(change: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => (made++ === 0 ? change : Effect.never));
  const dying = Layer.mergeAll(
    Layer.succeed(LinkStore, { ...links, distrust: (write) => once(links.distrust(write)) }),
    Layer.succeed(
      RolePlans,
      RolePlans.of({
        ...plans,
        pauseUnlessNameable: (plan, actor) => once(plans.pauseUnlessNameable(plan, actor)),
      }),
    ),
  );
  const node = yield* startNodeOn(yield* RolePlanStore, (reachable) =>
    Upgrades.layer.pipe(Layer.provide([dying, Layer.succeed(RolePlanStore, reachable)])),
  );
  yield* TestClock.adjust("1 minute");
  node.cut();
  yield* node.stop;
});

const scopeOf = (owner: ChatId) =>
  ApiKeys.use((keys) =>
    keys.scopeOf({ name: `of ${owner}`, chatId: owner, tier: "free" }, { kind: "global" }),
  );

const link = (pid: Pid, user: ChatId, game: GameId, proof: GameProof, at = 0) =>
  ImportStore.use((imports) =>
    imports.importBatch({
      ...operator,
      pid,
      links: [{ chatId: user, gameId: game, lastVerifiedAt: at }],
      existing: "replace",
      progress: null,
      proof,
      at,
    }),
  );

const entriesOf = (account: string, action: AuditAction) =>
  AuditLog.use((log) => log.list(account, null, 100)).pipe(
    Effect.map(({ entries }) => entries.filter((entry) => entry.action === action)),
  );

const proofOf = (pid: Pid, user: ChatId) =>
  LinkStore.use((store) =>
    Effect.map(store.findByChatId(pid, user), (found) => Option.getOrThrow(found).proof),
  );

test("known links without a proof of the user's own become links by hand, in two rounds", function* () {
  const [one, other] = [yield* scopeOf(ada), yield* scopeOf(bob)];
  yield* link(one.pid, ada, chess, "session");
  yield* link(other.pid, ada, chess, "known");
  yield* link(one.pid, bob, poker, "oauth");
  yield* link(other.pid, bob, poker, "known");
  yield* link(other.pid, cyd, chess, "words");
  yield* runNode;
  const proofs = () => Effect.forEach([ada, bob, cyd], (user) => proofOf(other.pid, user));
  assert.deepStrictEqual(yield* proofs(), ["hand", "known", "words"]);
  const entries = entriesOf(other.account, "link.set");
  const [entry] = yield* entries;
  assert.deepStrictEqual(entry?.actor, { type: "operator", id: "upgrade" });
  assert.match(String(entry?.details["reason"]), /never proven by its user/);
  const events = Option.getOrThrow(yield* EventStore.use((store) => store.read(other.pid, 0, 10)));
  assert.strictEqual(events.filter(({ type }) => type === "link.set").length, 1);

  // What a node of the release before stored meanwhile.
  yield* link(other.pid, ada, chess, "known", 1);
  yield* later("1 hour")(runNode);
  assert.strictEqual(yield* proofOf(other.pid, ada), "known");
  yield* later("25 hours")(runNode);
  assert.strictEqual(yield* proofOf(other.pid, ada), "hand");
  yield* link(other.pid, ada, chess, "known", 2);
  yield* later("50 hours")(runNode);
  assert.strictEqual(yield* proofOf(other.pid, ada), "known");
  assert.strictEqual((yield* entries).length, 2);
});

test("an upgrade whose node dies goes on on another one, and changes no link twice", function* () {
  const { pid, account } = yield* scopeOf(ada);
  const users = [ada, bob, cyd, dan];
  for (const user of users) yield* link(pid, user, chess, "known");
  yield* startDying();
  const proofs = Effect.forEach(users, (user) => proofOf(pid, user));
  assert.deepStrictEqual(yield* proofs, ["hand", "known", "known", "known"]);
  // On a node of the release before, Bob proves the account, and Ada's becomes known again.
  yield* link(pid, bob, chess, "oauth", 1);
  yield* link(pid, ada, chess, "known", 1);
  yield* TestClock.adjust("10 minutes");
  yield* runNode;
  assert.deepStrictEqual(yield* proofs, ["hand", "oauth", "hand", "hand"]);
  const changed = (yield* entriesOf(account, "link.set")).map(({ details }) => String(details["chatId"]));
  assert.sameMembers(changed, [ada, ada, cyd, dan]);
});

test("plans that a key saved last with roles that its maker may not give are paused, others go on", function* () {
  const [plans, communities] = [yield* RolePlanStore, yield* CommunityStore];
  const { pid, account } = yield* scopeOf(ada);
  const origin = { actor: { type: "account", id: account, member: ada }, requestId: null } as const;
  const target = { kind: "global" } as const;
  const keys = yield* ApiKeys;
  const choice = { account: { name: account, chatId: ada, tier: "free" }, target, access: "manage" } as const;
  const { key } = yield* keys.create(choice, origin);
  const byKey = { type: "key", id: key.id } as const;
  const save = (of: GuildId, roleId: string, actor: Actor) => {
    const rules = [{ roleId, when: { is: "linked" as const }, nickname: null }];
    const settings = { ...noPlan, rules, state: "on" as const };
    return plans.put({ actor, requestId: null, pid, guildId: of, at: 0, position: 0, settings });
  };
  const [powerful, logged, modest, saved, byHand] = guildIds;
  yield* save(powerful, boss, byKey);
  yield* save(logged, boss, byKey);
  const update = { logChannelId: "70" };
  yield* communities.update({ ...origin, pid, guildId: logged, update, position: 0, at: 0 });
  yield* save(modest, member, byKey);
  yield* save(saved, member, byKey);
  yield* save(saved, boss, { type: "account", id: account, member: dan });
  yield* save(byHand, boss, operator.actor);
  yield* startDying();
  yield* TestClock.adjust("10 minutes");
  yield* runNode;
  const why = yield* Effect.forEach(guildIds, (of) =>
    Effect.map(
      communities.find({ pid, guildId: of }),
      (found) => Option.getOrThrow(found).paused?.why ?? "on",
    ),
  );
  assert.deepStrictEqual(why, ["role_rights", "role_rights", "on", "on", "on"]);
  const paused = yield* entriesOf(account, "roles.updated");
  assert.lengthOf(
    paused.filter(({ actor }) => actor.type === "operator" && actor.id === "roles"),
    2,
  );
});
