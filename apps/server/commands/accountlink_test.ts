import { expect, it } from "vitest";
import { runInProcess } from "./test_command_line.ts";

const run = (words: ReadonlyArray<string>) => runInProcess(words, {});

it("help is shown if no command is named", async () => {
  const { code, stdout, stderr } = await run(["keys"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("USAGE\n  accountlink keys <subcommand>");
  expect((await run([])).stderr).toMatch(/ resume +Let a storage that rests act again\n/);
});

const id = "Aa0Bb1Cc2Dd3";
const token = `alk_${id}_${"x".repeat(43)}`;
const create = ["keys", "create", "--account", "acme"];
const plan = ["roles", "set", "--account", "acme", "--guild-id", "12345"];

it.each<[args: ReadonlyArray<string>, problem: string]>([
  [["links", "impotr"], 'command "impotr" is not known, expected perhaps import'],
  [["serve", "--prot", "1"], 'flag "--prot" is not known, expected perhaps --port'],
  [["keys", "create"], "flag --account is missing"],
  [["keys", "revoke"], "argument <key> is missing"],
  [["keys", "revoke", id, "more"], 'argument "more" is not expected'],
  [["keys", "revoke", "some"], '<key> is "some", expected 12 letters or digits, or alk_<id>_…'],
  [["keys", "revoke", `${token}x`], "<key> is a value of 61 characters, expected 12 letters"],
  [
    ["keys", "create", "--account", ""],
    '--account is "", expected 1 to 100 characters, at least one of them visible, no control characters',
  ],
  [
    [...create, "--name", "x\u202Egnp"],
    "no control characters, zero-width characters or direction overrides",
  ],
  [[...create, "--name", "\u200B"], "expected 1 to 100 characters, at least one of them visible"],
  [[...create, "--tier", "gold"], '--tier is "gold", expected "free" | "premium"'],
  [[...create, "--guild-id", "12"], '--guild-id is "12", expected 5 to 32 digits'],
  [[...create, "--scope", "guild"], "--scope guild needs --guild-id"],
  [[...create, "--scope", "global", "--guild-id", "12345"], "--scope global takes no --guild-id"],
  [[...create, "--unlimited", "--daily", "1"], "--unlimited takes no other limit beside it"],
  [[...create, "--daily", "-1"], '--daily is "-1", expected a whole number, 0 or more'],
  [
    [...create, "--window", "soon"],
    '--window is "soon", expected a duration of at most 1000000 days, such as',
  ],
  [[...create, "--expires", "2026-02-30"], '--expires is "2026-02-30", expected an ISO 8601'],
  [[...create, "--redirect-origin", "x.org"], '--redirect-origin is "x.org", expected an origin'],
  [["keys", "rotate", id, "--grace", "8 days"], "expected 7 days or less"],
  [["audit", "list", "--account", "a", "--limit", "0"], "expected 1 to 1000"],
  [["webhooks", "deliveries", "wh_Aa0Bb1Cc2Dd3Ee4Ff5Gg", "--limit", "0"], "expected 1 to 1000"],
  [["webhooks", "deliveries", "wh_Aa0Bb1Cc2Dd3Ee4Ff5Gg", "--cursor", "x"], "expected an event"],
  [["users", "erase", "--chat-id", "ada"], '--chat-id is "ada", expected 5 to 32 digits'],
  [[...plan, "--bypass-role", "x"], '--bypass-role is "x", expected 1 to 32 digits'],
  [["links", "import", "a", "--account", "a", "--on-conflict", "drop"], '--on-conflict is "drop"'],
])("an invalid command line is refused in one line: %j", async (args, problem) => {
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
