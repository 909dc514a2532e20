import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { makeWorkplace } from "./test_program.ts";

const problemOf = (stdout: string): string => (JSON.parse(stdout) as { readonly error: string }).error;

it("the program prints its version, help and completions on standard output", async () => {
  const { run, runProcess } = await makeWorkplace();
  expect(await runProcess("--version")).toMatchObject({ code: 0, stderr: "" });
  const help = await run("keys", "create", "--help");
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toContain("EXAMPLES");
  expect(help.stdout).not.toContain("\u001B");
  expect((await run("--completions", "bash")).stdout).toContain("accountlink");
});

it("the program exits with 2 if the command line is invalid", async () => {
  const { run, runProcess } = await makeWorkplace();
  expect(await runProcess("keys", "list", "--nonsense")).toEqual({
    code: 2,
    stdout: "",
    stderr:
      'Cannot run "accountlink keys list": flag "--nonsense" is not known (see accountlink keys list --help)\n',
  });
  const noCommand = await run("keys", "--json");
  expect(noCommand).toMatchObject({ code: 2, stderr: "" });
  expect(problemOf(noCommand.stdout)).toBe(
    'Cannot run "accountlink keys": there is no command, expected create, list, update, rotate, disable, enable, revoke',
  );
  const csv = await run("links", "export", "--account", "a", "--format", "csv", "--json");
  expect(csv).toMatchObject({ code: 2, stderr: "" });
  expect(problemOf(csv.stdout)).toContain("--json prints no CSV, expected --output or --format ndjson");
});

it("the program exits with 1 if the environment is invalid", async () => {
  const { run, runProcess } = await makeWorkplace({ ACCOUNTLINK_PORT: "80a" });
  const problem = 'ACCOUNTLINK_PORT is "80a", expected a port number from 0 to 65535';
  const list = await run("keys", "list");
  expect(list).toEqual({ code: 1, stdout: "", stderr: `Cannot run the command: ${problem}\n` });
  const serve = await runProcess("serve", "--host", "localhost");
  expect(serve).toEqual({ code: 1, stdout: "", stderr: `Cannot start: ${problem}\n` });
});

it("a command is refused on memory storage, which other processes cannot read", async () => {
  const { run } = await makeWorkplace({ ACCOUNTLINK_STORAGE: "memory" });
  const ended = await run("keys", "list", "--json");
  expect(ended).toMatchObject({ code: 1, stderr: "" });
  expect(problemOf(ended.stdout)).toBe(
    'Cannot run the command: ACCOUNTLINK_STORAGE is "memory", which exists only inside its server, expected embedded, postgres or redis',
  );
});

it("a command other than `serve` is refused if it would create the demo's folder", async () => {
  const { run, dataFolder } = await makeWorkplace({ ACCOUNTLINK_STORAGE: "" });
  for (const command of [["keys", "create", "--account", "acme"], ["migrate"]]) {
    expect(await run(...command)).toEqual({
      code: 1,
      stdout: "",
      stderr: `Cannot make data folder "${join(dataFolder, "demo")}": it is the demo's, which only serve creates, expected ACCOUNTLINK_STORAGE=embedded for your own data\n`,
    });
  }
  expect(existsSync(dataFolder)).toBe(false);
});

it("a command works on the demo after `serve` has created the demo, and prints the demo's folder", async () => {
  const { json, serve, dataFolder } = await makeWorkplace({ ACCOUNTLINK_STORAGE: "" });
  await serve();
  expect(await json("keys", "create", "--account", "acme")).toMatchObject({
    folder: join(dataFolder, "demo"),
  });
});

it("a command that reads data is refused if the data folder contains no database", async () => {
  const { run, dataFolder } = await makeWorkplace();
  const { code, stdout, stderr } = await run("links", "export", "--account", "acme");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(`Cannot open the database: data folder "${dataFolder}" holds none`);
  expect(existsSync(dataFolder)).toBe(false);
});

it("a command ends quietly when the reader of its output closes the pipe", async () => {
  const { file, run, start } = await makeWorkplace();
  const lines = Array.from({ length: 20_000 }, (_, index) => `${10_000 + index},1`);
  const links = await file("links.csv", `chatId,gameId\n${lines.join("\n")}\n`);
  expect(await run("links", "import", links, "--account", "acme")).toMatchObject({ code: 0 });
  const child = start("links", "export", "--account", "acme");
  child.stdout?.once("data", () => child.stdout?.destroy());
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  await once(child, "close");
  expect({ code: child.exitCode, stderr }).toEqual({ code: 141, stderr: "" });
});

/** A device of Linux that is always full. */
const fullDisk = "/dev/full";

it.skipIf(!existsSync(fullDisk))("a command fails if its output does not fit on the disk", () => {
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [main, "--version"], {
    stdio: ["ignore", openSync(fullDisk, "w"), "pipe"],
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^Cannot print the answer: ENOSPC: .+\n$/);
});
