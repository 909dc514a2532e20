import { GuildId, Pid } from "@accountlink/core";
import { RolePlanStore } from "@accountlink/core/roles";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option } from "effect";
import { SqlClient } from "effect/sql";
import { migrate } from "../migrations.ts";
import { layerSqlite } from "../sqlite/client/sql_client.ts";
import { layer } from "./role_plan_store.ts";

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
