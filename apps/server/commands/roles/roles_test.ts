import { nothingChosen } from "@accountlink/core/communities";
import { type HttpAnswer, runUntil, startHttpServer } from "@accountlink/test-servers";
import { expect, it, onTestFinished } from "vitest";
import { makeWorkplace } from "../test_program.ts";

const guildId = "700000000000000001";
const place = ["--account", "acme", "--guild-id", guildId];

it("commands set, show and sweep a role plan", async () => {
  const { run, json, dataFolder: folder } = await makeWorkplace();
  const { pid } = await json("keys", "create", "--account", "acme", "--guild-id", guildId);
  const none = {
    account: "acme",
    scope: "guild",
    pid,
    guildId,
    rules: [],
    nickname: null,
    nicknameGroupId: null,
    bypassRoleIds: [],
    nicknameBypassRoleIds: [],
    ...nothingChosen,
    unlinked: "remove",
    status: { state: "paused", pending: 0, sweptAt: null, sweep: null, problems: [] },
  };
  expect(await json("roles", "show", ...place)).toEqual(none);
  const rules = ["--rule", "1=linked", "--rule", "2=group:9:100-", "--rule", "3=group:9"];
  const set = await json("roles", "set", ...place, ...rules, "--nickname", "{game.username}");
  const group = { is: "group", groupId: "9", minRank: null, maxRank: null };
  expect(set).toEqual({
    ...none,
    rules: [
      { roleId: "1", when: { is: "linked" }, nickname: null },
      { roleId: "2", when: { ...group, minRank: 100 }, nickname: null },
      { roleId: "3", when: group, nickname: null },
    ],
    nickname: "{game.username}",
    folder,
  });
  const failed = await run("roles", "sweep", ...place);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("its plan is not on")]);
  const on = await json("roles", "set", ...place, "--state", "on", "--no-nickname");
  expect(on).toMatchObject({ nickname: null, status: { state: "on", sweep: { done: 0, total: 0 } } });
  expect(await json("roles", "sweep", ...place)).toMatchObject({ status: { state: "on" } });
  const { stdout } = await run("roles", "show", ...place);
  expect(stdout).toContain("1=linked, 2=group:9:100-, 3=group:9");
  expect(stdout).toMatch(/^state +on$/m);
  const owned =
    "--rule 1=gamepass:55&proven --rule 2=age:30 --bypass-role 7 --bypass-role 8 --nickname-bypass-role 6 --nickname-group 9".split(
      " ",
    );
  expect(await json("roles", "set", ...place, ...owned)).toMatchObject({
    rules: [
      {
        roleId: "1",
        when: { is: "all", of: [{ is: "owner", item: "gamepass", itemId: "55" }, { is: "proven" }] },
      },
      { roleId: "2", when: { is: "age", minDays: 30 } },
    ],
    nicknameGroupId: "9",
    bypassRoleIds: ["7", "8"],
    nicknameBypassRoleIds: ["6"],
  });
  expect((await run("roles", "show", ...place)).stdout).toContain("1=gamepass:55&proven, 2=age:30");
  expect(await json("roles", "set", ...place, "--no-bypass-role")).toMatchObject({ bypassRoleIds: [] });
  expect(await json("roles", "set", ...place, "--no-rules")).toMatchObject({ rules: [] });
});

it.each<[what: string, args: ReadonlyArray<string>, problem: string]>([
  ["an unknown scope", ["show", ...place], 'account "acme" has no scope for guild'],
  ["an unknown condition", ["set", ...place, "--rule", "1=friends"], "expected <role>=linked"],
  ["nothing to change", ["set", ...place], "needs at least one flag"],
  ["a contradiction", ["set", ...place, "--rule", "1=linked", "--no-rules"], "takes no --rule"],
])("`roles` refuses %s", async (_, args, problem) => {
  const { run, json } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const { code, stderr } = await run("roles", ...args);
  expect([code !== 0, stderr]).toEqual([true, expect.stringContaining(problem)]);
});

it("`roles set` refuses rules about what the game does not have", async () => {
  const game = startHttpServer(({ path, headers }): HttpAnswer => {
    if (headers.authorization !== "Bearer token") return { status: 401 };
    return path === "/" ? { body: { features: ["items"], items: ["app"] } } : { status: 404 };
  });
  const { url } = await runUntil(onTestFinished)(game);
  const refusalIn = async (environment: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
    const { run, json } = await makeWorkplace(environment);
    await json("keys", "create", "--account", "acme", "--guild-id", guildId);
    return (await run("roles", "set", ...place, ...args)).stderr;
  };
  const ownGame = { ACCOUNTLINK_GAME_URL: url, ACCOUNTLINK_GAME_TOKEN: "token" };
  expect(await refusalIn(ownGame, "--rule", "1=owner:app:55")).toBe("");
  expect(await refusalIn(ownGame, "--rule", "1=linked&gamepass:5")).toContain(
    'Cannot set the plan: rules: the game platform has no items "gamepass", expected one of app',
  );
  expect(await refusalIn(ownGame, "--nickname-group", "9")).toContain("the game platform tells no groups");
  expect(await refusalIn({}, "--rule", "1=owner:app:55")).toContain('the game platform has no items "app"');
  const wrong = { ...ownGame, ACCOUNTLINK_GAME_TOKEN: "wrong" };
  expect(await refusalIn(wrong, "--rule", "1=owner:app:55")).toContain('the status is "401"');
});

it("`roles set` refuses an unknown placeholder, and a second active plan for a guild", async () => {
  const { run, json } = await makeWorkplace();
  for (const account of ["acme", "other"]) {
    await json("keys", "create", "--account", account, "--guild-id", guildId);
  }
  const wrong = await run("roles", "set", ...place, "--nickname", "{x}");
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("{game.username}")]);
  await json("roles", "set", ...place, "--state", "on");
  const second = await run("roles", "set", "--account", "other", "--guild-id", guildId, "--state", "on");
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("another plan of guild")]);
});
