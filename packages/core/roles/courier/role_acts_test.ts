/** What members have after each act on links, rules, blocks, imports and data, for each choice about the never linked. */
import { assert } from "@accountlink/test-servers/effect";
import { Clock, Effect } from "effect";
import { BlockStore } from "../../admission/block_store.ts";
import { ImportStore } from "../../imports/import_store.ts";
import { LinkStore } from "../../links/link_store.ts";
import { chatId, gameId, guildId, operator } from "../../test_services.ts";
import { type PlanSettings, unlinkedChoices } from "../role_plan.ts";
import { deployment, memberIds, pass, test, usual, verified } from "./test_deployment.ts";

/**
 * Ada and bob were linked by an import; zoe was never linked. Bob and zoe have a role of the rules from another service.
 */
const [ada = "", zoe = "", bob = ""] = memberIds;

/** A role that no rule names, and the role of members to leave alone. */
const [own, bypass] = ["2", "10"];

const settings: PlanSettings = {
  ...usual,
  rules: usual.rules.slice(0, 1),
  nickname: "{game.username}",
  bypassRoleIds: [bypass],
};

const write = { ...operator, at: 1 };

/** What a test does with the guild. */
const acts = Effect.gen(function* () {
  const deployed = yield* deployment;
  const { guild, plans, put, roles } = deployed;
  const { pid } = deployed.scope;
  const [blocks, imports, links] = [yield* BlockStore, yield* ImportStore, yield* LinkStore];
  const unlink = deployed.unlink(ada);
  const rows = [
    { chatId: chatId(ada), gameId: gameId("1"), lastVerifiedAt: 0 },
    { chatId: chatId(bob), gameId: gameId("3"), lastVerifiedAt: 0 },
  ];
  const batch = { links: rows, existing: "keep", proof: "import", progress: null } as const;
  const blocked = { gameId: null, hash: "hash", reason: null };
  return {
    ...deployed,
    import: imports.importBatch({
      ...write,
      pid,
      ...batch,
      file: { id: "file", name: "a.csv", isUndoable: true },
    }),
    nothing: Effect.void,
    unlink,
    unlinkRenamed: Effect.andThen(roles.setNickname(guildId, chatId(ada), "mine"), unlink),
    unlinkBypassed: Effect.andThen(roles.addRole(guildId, chatId(ada), bypass), unlink),
    unlinkPaused: Effect.andThen(put({ ...settings, state: "paused" }), unlink),
    unlinkNameBypassed: Effect.flatMap(plans.find(guild), ({ plan: { unlinked } }) =>
      Effect.andThen(put({ ...settings, unlinked, nicknameBypassRoleIds: [own] }), unlink),
    ),
    linkPaused: Effect.andThen(
      Effect.andThen(unlink, pass(3)),
      Effect.andThen(put({ ...settings, state: "paused" }), deployed.link(ada, "1")),
    ),
    withoutRules: Effect.andThen(
      put({ rules: [], nickname: null, unlinked: "remove" }),
      deployed.link(zoe, "2"),
    ),
    block: Effect.flatMap(Clock.currentTimeMillis, (at) =>
      blocks.set({ ...write, at, pid, ...blocked, chatId: chatId(ada) }),
    ),
    undo: imports.undo({ ...write, pid, id: "file", limit: 100 }),
    deleteData: links.deleteScope({ ...write, pid }),
    deleteDataPaused: Effect.andThen(
      put({ ...settings, state: "paused" }),
      links.deleteScope({ ...write, pid }),
    ),
    deleteRules: plans.remove(guild, operator),
    putBack: Effect.andThen(put({ ...settings, state: "paused" }), plans.putNicknamesBack(guild, operator)),
    putBackRenamed: Effect.andThen(
      Effect.andThen(put({ ...settings, state: "paused" }), roles.setNickname(guildId, chatId(ada), "mine")),
      plans.putNicknamesBack(guild, operator),
    ),
  };
});

const kept = { roleIds: [verified, own], nickname: "game 1" };
const lost = { roleIds: [own], nickname: null };

/** What ada has after each act. The rules had given her a role and replaced the nickname "Lady Ada". */
const afterwards = {
  nothing: kept,
  withoutRules: kept,
  unlink: lost,
  unlinkRenamed: { ...lost, nickname: "mine" },
  unlinkBypassed: { ...kept, roleIds: [verified, bypass, own] },
  unlinkNameBypassed: { ...kept, roleIds: [own] },
  unlinkPaused: kept,
  linkPaused: lost,
  block: lost,
  // A link that an undone import made was none, so the nickname from before is back.
  undo: { ...lost, nickname: "Lady Ada" },
  deleteData: lost,
  deleteDataPaused: kept,
  deleteRules: kept,
  putBack: { ...kept, nickname: "Lady Ada" },
  putBackRenamed: { ...kept, nickname: "mine" },
};

for (const unlinked of unlinkedChoices) {
  for (const [act, expected] of Object.entries(afterwards)) {
    test(`with the choice "${unlinked}", members after the act "${act}"`, function* () {
      const guild = yield* acts;
      for (const [user, roleId] of [
        [ada, own],
        [zoe, verified],
        [bob, verified],
      ] as const)
        yield* guild.roles.addRole(guildId, chatId(user), roleId);
      yield* guild.roles.setNickname(guildId, chatId(ada), "Lady Ada");
      yield* guild.import;
      yield* guild.put({ ...settings, unlinked });
      yield* guild.startNode();
      yield* pass(3);
      assert.deepInclude(yield* shown(guild, ada), kept);
      yield* guild[act as keyof typeof afterwards];
      yield* pass(5);
      assert.deepInclude(yield* shown(guild, ada), expected);
      // A link that an undone import made was none: the rules take back what they gave for it, and nothing else.
      if (act === "undo") assert.deepEqual(yield* guild.rolesOf(bob), unlinked === "keep" ? [verified] : []);
      assert.deepEqual(yield* guild.rolesOf(zoe), unlinked === "keep" ? [verified] : []);
    });
  }
}

const shown = (guild: Effect.Success<typeof acts>, user: string) =>
  Effect.map(guild.member(user), ({ roleIds, nickname }) => ({ roleIds: roleIds.toSorted(), nickname }));
