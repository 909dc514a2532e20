import { expect, it } from "vitest";
import { makeWorkplace } from "./test_program.ts";

interface Entry {
  readonly sequence: number;
  readonly action: string;
}

it("`audit list` prints who changed what, newest first, page by page", async () => {
  const { json, run } = await makeWorkplace();
  const { id } = await json("keys", "create", "--account", "acme");
  await json("keys", "create", "--account", "other");
  await json("keys", "rotate", String(id));
  await json("keys", "revoke", String(id));

  const all = await json("audit", "list", "--account", "acme");
  const entries = all["entries"] as ReadonlyArray<Entry>;
  expect(entries.map(({ action }) => action)).toEqual(["key.status_changed", "key.rotated", "key.created"]);
  expect(all["next"]).toBe(null);
  expect(entries[0]).toMatchObject({
    account: "acme",
    actor: { type: "operator" },
    requestId: null,
    at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
  });

  const page = await json("audit", "list", "--account", "acme", "--limit", "2");
  expect(page).toEqual({ entries: entries.slice(0, 2), next: entries[1]?.sequence });
  const before = ["--before", String(page["next"])];
  const rest = await json("audit", "list", "--account", "acme", "--limit", "2", ...before);
  expect(rest).toEqual({ entries: entries.slice(2), next: null });

  const { stdout } = await run("audit", "list", "--account", "acme", "--limit", "1");
  expect(stdout).toMatch(
    /^ENTRY +TIME +WHO +SCOPE +ACTION +DETAILS\n\d+ .* operator \S+ .*key\.status_changed/,
  );
  expect(stdout).toContain(`There are older ones: --before ${entries[0]?.sequence}\n`);
  expect((await run("audit", "list", "--account", "nobody")).stdout).toBe("There are no entries\n");
});
