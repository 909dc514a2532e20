import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileCache } from "@accountlink/test-servers";
import { afterAll, expect, it } from "vitest";
import { createAccountLink } from "./mod.ts";
import { sqlite } from "./sqlite.ts";
import { promiseApiSuite } from "./test_promise_api.ts";

const root = mkdtempSync(join(tmpdir(), "accountlink-embedded-"));
afterAll(() => rmSync(root, { recursive: true }));

promiseApiSuite(() => sqlite(join(root, "suite")), { shares: false });

const open = (byte: number) =>
  createAccountLink({
    storage: sqlite(join(root, "kept")),
    secret: new Uint8Array(32).fill(byte),
    gameUserExists: () => true,
  });

it("a program exits after it closes the service on SQLite", () => {
  const program = join(import.meta.dirname, "test_program.ts");
  const { status, stdout } = spawnSync(process.execPath, [program, join(root, "ended")], {
    env: { ...process.env, ...compileCache },
    timeout: 40_000,
  });
  expect([status, String(stdout).trim().split("\n").at(-1)]).toEqual([0, "CLOSED"]);
});

it("the files of a data folder do not contain the game account of an erased user", async () => {
  const folder = join(root, "erased");
  const al = await createAccountLink({
    storage: sqlite(folder),
    secret: new Uint8Array(32),
    gameUserExists: () => true,
  });
  const erased = "987654321098765";
  for (let other = 0; other < 50; other++) await al.links.set(String(100_000 + other), "1");
  await al.links.set("200000", erased);
  await al.users.erase("200000");
  await al.close();
  const contains = (text: string) =>
    readdirSync(folder).filter((name) => readFileSync(join(folder, name), "latin1").includes(text));
  expect([contains("100049").length > 0, contains(erased)]).toEqual([true, []]);
});

it("a data folder keeps links and sessions for the next process, which must pass the same secret", async () => {
  const first = await open(1);
  await first.links.set("100001", "1");
  const { sid } = await first.sessions.create({ clientId: "one" });
  await expect(open(1)).rejects.toMatchObject({ _tag: "DataFolderInUse" });
  await first.close();
  await expect(open(2)).rejects.toMatchObject({ _tag: "SecretRejected" });
  const second = await open(1);
  expect(await second.links.get("100001")).toMatchObject({ gameId: "1" });
  expect(await second.sessions.cancel(sid)).toMatchObject({ state: "cancelled" });
  await second.close();
});
