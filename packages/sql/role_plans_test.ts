import { GuildId, Pid } from "@accountlink/core";
import { RolePlanStore } from "@accountlink/core/roles";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option } from "effect";
import { SqlClient } from "effect/sql";
import { migrate } from "./migrations.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { layer } from "./stores.ts";

const stored = Layer.provideMerge(layer, layerSqlite({ filename: ":memory:" }));
const test = testWith(Layer.fresh(stored));

test("plans of releases with one bypass role, and with rules without nicknames, are read", function* () {
  const [sql, plans] = [yield* SqlClient.SqlClient, yield* RolePlanStore];
  yield* migrate;
  const pid = Pid.make("pid_0000000000000000");
  yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
  yield* sql`INSERT INTO scopes (pid, account) VALUES (${pid}, 'acme')`;
  const linked = { roleId: "1", when: { is: "linked" } };
  const plan = { pid, unlinked: "remove", state: "paused", position: 0, revision: 1, sweep_done: 0 };
  const rules = JSON.stringify([linked]);
  yield* sql`INSERT INTO role_plans ${sql.insert([
    { ...plan, guild_id: "70001", rules, bypass_role_id: "3" },
    { ...plan, guild_id: "70002", rules, bypass_role_id: null },
  ])}`;
  const found = yield* Effect.forEach(["70001", "70002"], (guildId) =>
    plans.find({ pid, guildId: GuildId.make(guildId) }),
  );
  const read = { rules: [{ ...linked, nickname: null }], nicknameBypassRoleIds: [] };
  expect(found.map(Option.getOrThrow)).toMatchObject([
    { ...read, bypassRoleIds: ["3"] },
    { ...read, bypassRoleIds: [] },
  ]);
});

test("a node that takes no plans is found although no plan is on, because it puts roles back and deletes old entries", function* () {
  const plans = yield* RolePlanStore;
  yield* migrate;
  const hold = (node: string, limit: number) => plans.hold({ node, at: 0, until: 7_000, limit });
  yield* hold("put_back:a", 0);
  yield* hold("put_back:b", 8);
  const found = yield* Effect.forEach(["put_back:", "put_back:b"], (prefix) => plans.firstNode(prefix, 0));
  expect(found).toEqual([Option.some("put_back:a"), Option.none()]);
});
