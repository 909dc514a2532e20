import { describe, expect, it } from "vitest";
import { makeWorkplace } from "../test_program.ts";

describe("accountlink accounts", () => {
  it("lists, shows, moves, suspends and restores accounts with their keys", async () => {
    const { run, json, dataFolder: folder } = await makeWorkplace();
    const { id } = await json("keys", "create", "--account", "acme", "--name", "bot");
    await json("keys", "create", "--account", "acme", "--kind", "partner");
    expect((await run("accounts", "list")).stdout.split("\n")).toEqual([
      "ACCOUNT  CHAT USER  TIER  STATUS",
      "acme     none       free  active",
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
      'Account "acme" of no chat user: premium, suspended\n\nKEY ',
    );
    expect(await json("accounts", "restore", "acme")).toMatchObject({ status: "active", changed: true });
    expect(await json("keys", "list")).toMatchObject({ keys: [{ status: "active" }, { status: "active" }] });
  });

  it("refuses an unknown account", async () => {
    const { json } = await makeWorkplace();
    await json("keys", "create", "--account", "acme");
    for (const [doing, ...words] of [
      ["show", "show", "nobody"],
      ["set the tier of", "set-tier", "nobody", "free"],
      ["suspend", "suspend", "nobody"],
      ["restore", "restore", "nobody"],
    ]) {
      expect(await json("accounts", ...words)).toEqual({
        error: `Cannot ${doing} account "nobody": there is no such account`,
      });
    }
  });
});
