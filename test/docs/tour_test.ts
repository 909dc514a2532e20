/** Runs `npm start` in this checkout, the tour of the README and the request of docs/api.md, and compares the answers. */
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../tools/publishable.ts";
import { type Demo, interruptDemo, killDemo, startDemo } from "../start/npm_start.ts";
import { eventually } from "../support/eventually.ts";
import { useFolder } from "../support/folder.ts";
import { blocksOf, patternOf, readDocument } from "./document.ts";
import { hasProgram, runShell } from "./shell.ts";

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
  const folder = useFolder();
  let demo: Demo;
  beforeAll(async () => {
    demo = await startDemo(root, { ACCOUNTLINK_DATA_DIR: folder });
  });
  afterAll(() => killDemo(demo));

  it("the tour has four steps", () => {
    expect(steps).toHaveLength(4);
  });

  it("the tour shows the output that the server prints when it starts", () => {
    const printed = demo.printed
      .slice(demo.printed.indexOf("listening on "))
      .replaceAll(demo.url, "http://127.0.0.1:8080")
      .replaceAll(/alk_[\w-]+/g, "alk_…");
    const shown = blocks.find(({ language }) => language === "text")?.text ?? "";
    expect(shown).not.toBe("");
    expect(printed.startsWith(shown)).toBe(true);
  });

  it.each(steps)("the tour shows the answer of: $command", async ({ command, answer }) => {
    const [KEY = "", GUILD_KEY = ""] = demo.keys;
    const typed = command.replaceAll("http://127.0.0.1:8080", demo.url);
    const printed = await runShell(typed, { cwd: tmpdir(), env: { KEY, GUILD_KEY } });
    expect(compact(printed)).toMatch(patternOf(compact(answer)));
  });

  it("the commands that the demo prints are answered", async () => {
    const lines = demo.printed.split("\n").filter((line) => line.startsWith("  curl "));
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      // The limit of the key may refuse a request at first.
      await eventually(
        async () =>
          expect(JSON.parse(await runShell(line, { cwd: tmpdir(), env: {} }))).toMatchObject({ status: 200 }),
        { interval: 500 },
      );
    }
  });

  it("a signal of the terminal ends every process of npm start with exit code 0", async () => {
    expect(await interruptDemo(demo)).toBe(0);
  });
});
