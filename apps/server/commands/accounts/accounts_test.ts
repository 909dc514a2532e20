import { expect, it } from "vitest";
import { makeWorkplace } from "../test_program.ts";

it("commands list, show, change, suspend and restore accounts and their keys", async () => {
  const { run, json, dataFolder: folder } = await makeWorkplace();
  const { id } = await json("keys", "create", "--account", "acme", "--name", "bot");
  await json("keys", "create", "--account", "acme", "--kind", "partner");
  expect((await run("accounts", "list")).stdout.split("\n")).toEqual([
    "ACCOUNT  OWNERS  TIER  STATUS",
    "acme     none    free  active",
    "",
  ]);

  const tier = { name: "acme", tier: "premium", folder };
  expect(await json("accounts", "set-tier", "acme", "premium")).toEqual({ ...tier, changed: true });
  expect(await json("accounts", "set-tier", "acme", "premium")).toEqual({ ...tier, changed: false });
  expect(await json("accounts", "show", "acme")).toMatchObject({
    name: "acme",
    chatId: null,
    tier: "premium",
    status: "active",
    keys: [
      { id, tier: "premium" },
      { tier: "free", kind: "partner" },
    ],
  });

  expect((await run("accounts", "suspend", "acme")).stdout).toBe(
    `Account "acme" is suspended in data folder "${folder}"\n`,
  );
  expect(await json("keys", "list")).toMatchObject({
    keys: [{ status: "suspended" }, { status: "suspended" }],
  });
  expect((await run("accounts", "show", "acme")).stdout).toContain(
    'Account "acme", owners none: premium, suspended\n\nKEY ',
  );
  expect(await json("accounts", "restore", "acme")).toMatchObject({ status: "active", changed: true });
  expect(await json("keys", "list")).toMatchObject({ keys: [{ status: "active" }, { status: "active" }] });
});

it("`accounts members` adds the first owner of an account, and changes and removes members", async () => {
  const { run, json, dataFolder: folder } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  const members = (...words: ReadonlyArray<string>) => json("accounts", "members", ...words);
  const ada = ["acme", "--chat-id", "100001"];
  const bob = ["acme", "--chat-id", "100002"];
  expect(await members("list", "acme")).toEqual({ members: [] });
  expect(await members("add", ...ada, "--role", "owner")).toEqual({
    name: "acme",
    chatId: "100001",
    role: "owner",
    changed: true,
    folder,
  });
  expect((await run("accounts", "list")).stdout).toContain("acme     100001  free  active");
  await json("keys", "create", "--account", "own");
  const first = await run("accounts", "members", "add", "own", "--chat-id", "100001", "--role", "owner");
  expect(first.stdout).toMatch(
    /^Keys of "own" can now name only guilds that its team manages, and .*\n.* is now owner of account "own"/,
  );
  expect((await run("accounts", "members", "add", ...bob, "--role", "moderator")).stdout).toBe(
    `Chat user 100002 is now moderator of account "acme" in data folder "${folder}"\n`,
  );
  expect(await members("add", ...bob, "--role", "admin")).toEqual({
    error:
      'Cannot add a member of account "acme": the chat user is a member or invited already, expected set-role, or remove first',
  });
  expect(await members("set-role", ...bob, "--role", "admin")).toMatchObject({
    role: "admin",
    changed: true,
  });
  expect(await members("set-role", ...bob, "--role", "admin")).toMatchObject({ changed: false });
  await json("keys", "create", "--account", "acme", "--scope", "guild", "--guild-id", "12345");
  const some = ["--role", "moderator", "--scopes"];
  expect(await members("set-role", ...bob, ...some, "12345,12345")).toMatchObject({
    role: "moderator",
    changed: true,
  });
  expect((await run("accounts", "members", "list", "acme")).stdout).toMatch(/100002 +moderator +pid_\w+ /);
  expect(await members("set-role", ...bob, ...some, "1")).toEqual({
    error: '--scopes names "1", which is no community of "acme"',
  });
  expect(await members("set-role", ...bob, "--role", "admin", "--scopes", "all")).toMatchObject({
    scopes: null,
  });
  expect(await members("remove", ...ada)).toEqual({
    error:
      'Cannot remove a member of account "acme": the chat user is its last owner, expected another owner first',
  });
  expect((await members("list", "acme"))["members"]).toMatchObject([
    { chatId: "100001", role: "owner" },
    { chatId: "100002", role: "admin" },
  ]);
  expect(await members("remove", ...bob)).toMatchObject({ chatId: "100002", changed: true });
  expect(await members("remove", ...bob)).toEqual({
    error: 'Cannot remove a member of account "acme": the chat user is not a member',
  });
});

it("commands refuse an unknown account", async () => {
  const { json } = await makeWorkplace();
  await json("keys", "create", "--account", "acme");
  for (const [doing, ...words] of [
    ["show", "show", "nobody"],
    ["set the tier of", "set-tier", "nobody", "free"],
    ["suspend", "suspend", "nobody"],
    ["restore", "restore", "nobody"],
    ["list the members of", "members", "list", "nobody"],
  ]) {
    expect(await json("accounts", ...words)).toEqual({
      error: `Cannot ${doing} account "nobody": there is no such account`,
    });
  }
});
