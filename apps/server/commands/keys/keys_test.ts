import { expect, it } from "vitest";
import { makeWorkplace } from "../test_program.ts";

const text = (value: unknown): string => String(value);

it("commands create, list, rotate and revoke keys, and print each secret once", async () => {
  const { run, json, dataFolder: folder } = await makeWorkplace();
  const created = await run("keys", "create", "--account", "acme", "--name", "bot");
  expect(created.code).toBe(0);
  // Standard output holds only the key, so that a shell can capture it.
  expect(created.stdout).toMatch(/^alk_[0-9A-Za-z]{12}_[0-9A-Za-z_-]{43}\n$/);
  expect(created.stderr).toContain(`in data folder "${folder}"`);
  const key = created.stdout.trim();
  const id = key.slice(4, 16);

  const rotated = await json("keys", "rotate", `alk_${id}_…`, "--grace", "1 hour");
  expect(rotated).toMatchObject({ id, token: expect.stringMatching(`^alk_${id}_`) as unknown, folder });
  expect(rotated["token"]).not.toBe(key);
  expect(Date.parse(text(rotated["previousUntil"])) - Date.now()).toBeGreaterThan(3_500_000);

  const listed = await run("keys", "list");
  expect(listed.stdout.split("\n")).toEqual([
    expect.stringMatching(/^KEY +NAME +ACCOUNT +SCOPE +TIER +KIND +ACCESS +STATUS +EXPIRES +LAST USED$/),
    expect.stringMatching(
      `^alk_${id}_…  bot   acme     global  free  normal  full    active  never    never$`,
    ),
    "",
  ]);

  const name = "x\u200Fgnp";
  await run("keys", "create", "--account", "acme", "--name", name);
  expect((await run("keys", "list")).stdout).toContain("  x\\u200fgnp  ");
  const inJson = await run("keys", "list", "--json");
  expect(inJson.stdout).not.toContain("\u200F");
  expect(JSON.parse(inJson.stdout)).toMatchObject({ keys: [{ name: "bot" }, { name }] });

  const revoked = await run("keys", "revoke", key);
  const line = `alk_${id}_… is revoked now in data folder "${folder}"\n`;
  expect(revoked).toEqual({ code: 0, stdout: line, stderr: "" });
  expect(await json("keys", "revoke", id)).toEqual({ id, status: "revoked", changed: false, folder });
  expect(await json("keys", "list", "--account", "acme")).toMatchObject({
    keys: [{ id, status: "revoked" }, { name }],
  });
  expect(await json("keys", "list", "--account", "other")).toEqual({ keys: [] });
  expect(await json("keys", "rotate", id)).toEqual({ error: `Cannot rotate alk_${id}_…: it is revoked` });
});

it("`keys create` creates a key with the given options", async () => {
  const { json, dataFolder } = await makeWorkplace();
  const created = await json(
    ...`keys create --account acme --name bot --guild-id 700000000000000001 --tier premium --kind partner --access read
        --expires 2999-01-31 --per-window 50 --window=2_seconds --daily 0 --verify-daily 7 --allow-ip 10.0.0.0/8
        --allow-ip 192.0.2.1 --deny-ip 10.1.0.0/16 --redirect-origin https://example.com`
      .split(/\s+/)
      .map((word) => word.replace("_", " ")),
  );
  const { token, folder, ...shown } = created;
  expect(folder).toBe(dataFolder);
  expect(token).toMatch(/^alk_/);
  expect(shown).toEqual({
    id: expect.any(String) as unknown,
    display: `alk_${text(shown["id"])}_…`,
    name: "bot",
    account: "acme",
    scope: "guild",
    guildId: "700000000000000001",
    pid: expect.stringMatching(/^pid_/) as unknown,
    tier: "premium",
    kind: "partner",
    access: "read",
    status: "active",
    expiresAt: "2999-01-31T00:00:00.000Z",
    limits: { perWindow: 50, windowMs: 2_000, daily: 0, verifyDaily: 7 },
    allowIps: ["10.0.0.0/8", "192.0.2.1"],
    denyIps: ["10.1.0.0/16"],
    redirectOrigins: ["https://example.com"],
    createdAt: expect.any(String) as unknown,
    lastUsedAt: null,
    previousSecretEndsAt: null,
    revokedAt: null,
  });
  expect((await json("keys", "list"))["keys"]).toEqual([shown]);
});

it("`keys create` creates an account with an owner, who may own other accounts too", async () => {
  const { json } = await makeWorkplace();
  const create = (account: string, owner: string) =>
    json("keys", "create", "--account", account, "--owner", owner);
  expect(await create("acme", "100001")).toHaveProperty("token");
  expect(await create("acme", "100001")).toHaveProperty("token");
  expect(await json("accounts", "show", "acme")).toMatchObject({ chatId: "100001" });
  expect(await create("other", "100001")).toHaveProperty("token");
  expect(await create("acme", "100002")).toEqual({
    error:
      'Cannot create the key: account "acme" exists, and only a new one takes an --owner; "accounts members add" gives it one',
  });
  expect(await json("accounts", "list")).toMatchObject({ accounts: [{ name: "acme" }, { name: "other" }] });
});

it("`keys create` respects the configured maximum number of keys per plan", async () => {
  const { json } = await makeWorkplace({ ACCOUNTLINK_FREE_KEYS: "1" });
  await json("keys", "create", "--account", "acme");
  expect(await json("keys", "create", "--account", "acme", "--tier", "premium")).toEqual({
    error: "Cannot create the key: the account has as many keys as its plan allows",
  });
  expect(await json("keys", "create", "--account", "acme", "--kind", "staff", "--unlimited")).toMatchObject({
    kind: "staff",
    limits: "none",
  });
});

it("commands make no account with an invisible name", async () => {
  const { file, run, json } = await makeWorkplace();
  const links = await file("links.csv", "chatId,gameId\n100001,1\n");
  for (const command of [
    ["keys", "create"],
    ["links", "import", links],
    ["links", "import", links, "--dry-run"],
  ]) {
    const { stderr } = await run(...command, "--account", "\u3164");
    expect(stderr).toContain("expected 1 to 100 characters, at least one of them visible");
  }
  expect(await json("accounts", "list")).toMatchObject({ accounts: [] });
});

it("commands refuse an expiry in the past, and unknown keys", async () => {
  const { json } = await makeWorkplace();
  expect(await json("keys", "create", "--account", "acme", "--expires", "2020-01-01")).toEqual({
    error: "Cannot create the key: --expires is in the past, expected a future time",
  });
  const id = "Aa0Bb1Cc2Dd3";
  for (const doing of ["revoke", "rotate"]) {
    expect(await json("keys", doing, id)).toEqual({
      error: `Cannot ${doing} alk_${id}_…: there is no such key`,
    });
  }
});
