import { describe, expect, it } from "vitest";
import { runInProcess } from "./test_command_line.ts";

const run = (words: ReadonlyArray<string>) => runInProcess(words, {});

const commands = [
  [],
  ["serve"],
  ["migrate"],
  ["keys"],
  ["keys", "create"],
  ["keys", "list"],
  ["keys", "revoke"],
  ["keys", "rotate"],
  ["links"],
  ["links", "import"],
  ["links", "export"],
  ["audit"],
  ["audit", "list"],
  ["doctor"],
];

describe("help", () => {
  it.each(commands.map((command) => ({ command })))(
    "help explains how to use $command",
    async ({ command }) => {
      const { code, stdout, stderr } = await run([...command, "--help"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(`USAGE\n  ${["accountlink", ...command].join(" ")} `);
    },
  );

  it("help is shown if no command is named", async () => {
    const { code, stdout, stderr } = await run(["keys"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("USAGE\n  accountlink keys <subcommand>");
  });
});

const id = "Aa0Bb1Cc2Dd3";
const token = `alk_${id}_${"x".repeat(43)}`;
const create = ["keys", "create", "--account", "acme"];

describe("an invalid command line", () => {
  it.each([
    { args: ["links", "impotr"], problem: 'command "impotr" is not known, expected perhaps import' },
    { args: ["serve", "--prot", "1"], problem: 'flag "--prot" is not known, expected perhaps --port' },
    { args: ["keys", "create"], problem: "flag --account is missing" },
    { args: ["keys", "revoke"], problem: "argument <key> is missing" },
    { args: ["keys", "revoke", id, "more"], problem: 'argument "more" is not expected' },
    {
      args: ["keys", "revoke", "some"],
      problem: '<key> is "some", expected 12 letters or digits, or alk_<id>_…',
    },
    {
      args: ["keys", "revoke", `${token}x`],
      problem: "<key> is a value of 61 characters, expected 12 letters",
    },
    {
      args: ["keys", "create", "--account", ""],
      problem: '--account is "", expected 1 to 100 characters, no control characters or direction overrides',
    },
    { args: [...create, "--name", "x\u202Egnp"], problem: "no control characters or direction overrides" },
    {
      args: ["keys", "create", "--account", "a\nb"],
      problem: "no control characters or direction overrides",
    },
    { args: [...create, "--tier", "gold"], problem: '--tier is "gold", expected "free" | "premium"' },
    { args: [...create, "--guild-id", "12"], problem: '--guild-id is "12", expected 5 to 32 digits' },
    { args: [...create, "--scope", "guild"], problem: "--scope guild needs --guild-id" },
    {
      args: [...create, "--scope", "global", "--guild-id", "12345"],
      problem: "--scope global takes no --guild-id",
    },
    {
      args: [...create, "--unlimited", "--daily", "1"],
      problem: "--unlimited takes no other limit beside it",
    },
    { args: [...create, "--daily", "-1"], problem: '--daily is "-1", expected a whole number, 0 or more' },
    { args: [...create, "--window", "soon"], problem: '--window is "soon", expected a duration such as' },
    {
      args: [...create, "--expires", "2026-02-30"],
      problem: '--expires is "2026-02-30", expected an ISO 8601',
    },
    {
      args: [...create, "--redirect-origin", "x.org"],
      problem: '--redirect-origin is "x.org", expected an origin',
    },
    { args: ["keys", "rotate", id, "--grace", "8 days"], problem: "expected 7 days or less" },
    { args: ["audit", "list", "--account", "a", "--limit", "0"], problem: "expected 1 to 1000" },
    {
      args: ["links", "import", "a", "--account", "a", "--on-conflict", "drop"],
      problem: '--on-conflict is "drop"',
    },
  ])("an invalid command line is refused in one line: $args", async ({ args, problem }) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(problem);
    expect(stderr).toMatch(/^Cannot run "accountlink [a-z ]+": .+ \(see accountlink [a-z ]+ --help\)\n$/);
  });

  it("the refusal of a command line never repeats IP addresses", async () => {
    const { stderr } = await run([...create, "--allow-ip", "203.0.113.7/33"]);
    expect(stderr).toContain("expected an IP address or a CIDR");
    expect(stderr).not.toContain("203.0.113.7");
  });
});
