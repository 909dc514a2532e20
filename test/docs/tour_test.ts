/** Runs the tour of the README and the request of docs/api.md, and compares the answers. */
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { blocksOf, patternOf, readDocument } from "./document.ts";
import { hasProgram, runShell } from "./shell.ts";

/** Unsets variables that tests set for a server, so that the server starts the demo with its usual limits. */
const demo = {
  ACCOUNTLINK_STORAGE: "",
  ACCOUNTLINK_FIXTURE: "",
  ACCOUNTLINK_TRUSTED_PROXIES: "",
  ACCOUNTLINK_IP_PER_SECOND: "",
  ACCOUNTLINK_IP_DAILY: "",
  ACCOUNTLINK_IP_AUTH_FAILURES: "",
};

const blocks = ["README.md", "docs/api.md"].flatMap((path) => blocksOf(readDocument(path)));
const steps = blocks.flatMap(({ language, text }, index) => {
  const answer = blocks[index + 1];
  return language === "sh" && text.startsWith("curl ") && answer?.language === "json"
    ? [{ command: text.trim(), answer: answer.text }]
    : [];
});

/** Removes white space between the tokens of JSON. */
const compact = (text: string): string => text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");

describe.skipIf(!(await hasProgram("curl")))("the tour, which needs curl", () => {
  let server: RunningServer | undefined;
  let keys: ReadonlyArray<string> = [];

  beforeAll(async () => {
    const started = await startServer({ fixture: {}, env: demo });
    server = started;
    await eventually(() => expect(started.output()).toContain("Stop with Ctrl+C."));
    keys = started.output().match(/alk_[\w-]+$/gm) ?? [];
  });

  afterAll(() => server?.stop());

  it("the tour has six steps", () => {
    expect(steps).toHaveLength(6);
  });

  it("the tour shows the output that the server prints when it starts", () => {
    const printed = server
      ?.output()
      .replaceAll(server.url, "http://127.0.0.1:8080")
      .replaceAll(/alk_[\w-]+/g, "alk_…");
    const shown = blocks.find(({ language }) => language === "text")?.text ?? "";
    expect(shown).not.toBe("");
    expect(printed?.startsWith(shown)).toBe(true);
  });

  it.each(steps)("the tour shows the answer of: $command", async ({ command, answer }) => {
    const [KEY = "", GUILD_KEY = ""] = keys;
    const typed = command.replaceAll("http://127.0.0.1:8080", server?.url ?? "");
    const printed = await runShell(typed, { cwd: tmpdir(), env: { KEY, GUILD_KEY } });
    expect(compact(printed)).toMatch(patternOf(compact(answer)));
  });
});
