/** Compares the tables of docs/sessions.md with the sources, and runs its curl commands against a server. */
import { isFinal, type SessionState } from "@accountlink/core/sessions";
import { Session } from "@accountlink/http-api";
import { type RefusalName, refusals } from "@accountlink/pages/flow/refusals";
import { variables } from "@accountlink/server/config";
import type { Variable } from "@accountlink/server/variables";
import { Option } from "effect";
import { describe, expect, it } from "vitest";
import { shortReads, useFlowServer } from "../contract/flow_server.ts";
import { eventually } from "../support/eventually.ts";
import { useFolder } from "../support/folder.ts";
import { textOf } from "../support/http.ts";
import { english } from "../support/languages.ts";
import { blocksOf, codeOf, readDocument, rowsUnder } from "./document.ts";
import { hasProgram, runShell } from "./shell.ts";

const document = readDocument("docs/sessions.md");
const blocks = blocksOf(document);
const statesOf = ({ fields: { state } }: (typeof Session.members)[number]): ReadonlyArray<SessionState> =>
  "literals" in state ? state.literals : [state.literal];

it("docs/sessions.md lists every state of a session", () => {
  const rows = rowsUnder(document, ["state", "means", "final"]);
  const states = rows.map(([state]) => codeOf(state) as SessionState);
  expect(states.toSorted()).toEqual(Session.members.flatMap(statesOf).toSorted());
  expect(rows.map(([, , final]) => final === "yes")).toEqual(states.map(isFinal));
});

it("docs/sessions.md shows every field of a session", () => {
  const shown = blocks.find(({ language }) => language === "json")?.text ?? "";
  const fields = Object.keys(JSON.parse(shown).data).toSorted();
  for (const member of Session.members) expect(fields).toEqual(Object.keys(member.fields).toSorted());
});

it("docs/sessions.md names pages of refusals by their titles and statuses", () => {
  const titles = Object.entries(refusals).map(([name, { status }]) => {
    const title = english.text(`refusal.${name as RefusalName}.title`, { platform: "Discord" });
    return [title, String(status)];
  });
  const rows = rowsUnder(document, ["page", "status", "when"]).map(([page, status]) => [page, status]);
  expect(titles).toEqual(expect.arrayContaining(rows));
  expect(new Set(titles.map(([title]) => title)).size).toBe(titles.length);
});

it.each(rowsUnder(document, ["rule", "by default", "beyond it", "set by"]))(
  "docs/sessions.md states the default of: %s",
  (_rule, fallback, _beyond, name) => {
    const byName: Readonly<Record<string, Variable<unknown>>> = variables;
    const variable = byName[codeOf(name)];
    expect(variable?.parse(codeOf(fallback))).toEqual(Option.some(variable?.fallback));
  },
);

const { fixtures, url, send, newUser, newSession } = useFlowServer({
  ...shortReads,
  // A stream ends after this time. The first documented stream must still be open when the user proves an account.
  ACCOUNTLINK_STREAM_MAX: "5 seconds",
});

const completed = { state: "completed", chatId: "100001", gameId: "1" };

describe.skipIf(!(await hasProgram("curl")))("the curl commands in docs/sessions.md", () => {
  const key = fixtures.key({ tier: "premium" });
  const shell = blocks.filter(({ language, text }) => language === "sh" && text.includes("curl"));
  const [create, longPolling, ...streams] = shell.map(({ text }) => text);
  const folder = useFolder();
  const type = (block: string, SID = "") =>
    runShell(block.replaceAll("http://127.0.0.1:8080", url()), { cwd: folder, env: { KEY: key, SID } });

  /** Masks values that differ between runs. */
  const masked = (text: string): unknown =>
    JSON.parse(text, (name, value: unknown) =>
      /^(?:sid|pid|url|code|codeUrl|requestId|.*At|rateLimit|timestamp)$/.test(name) && value !== null
        ? name
        : value,
    );

  it("the commands of docs/sessions.md create the session that it shows", async () => {
    const shown = blocks.find(({ language }) => language === "json")?.text ?? "";
    expect(masked(await type(create ?? ""))).toEqual(masked(shown));
  });

  it.each([
    ["poll", longPolling?.replace("?wait=25", "")],
    ["long poll", longPolling],
  ])("the commands of docs/sessions.md receive the end of a session by %s", async (_way, block) => {
    const { sid } = await newSession(key);
    const user = newUser(textOf(sid));
    const printed = type(block ?? "", textOf(sid));
    await user.begin();
    await user.finish();
    expect(JSON.parse(await printed)).toMatchObject({ data: completed });
  });

  it("the streams of docs/sessions.md print the documented text up to the end of the session", async () => {
    const { sid } = await newSession(key);
    const user = newUser(textOf(sid));
    const first = type(streams[0] ?? "", textOf(sid));
    await eventually(async () =>
      expect((await send("GET /metrics")).text).toContain("accountlink_session_reads_open 1"),
    );
    await user.begin();
    await first;
    await user.finish();
    const resumed = await type(streams[1] ?? "", textOf(sid));
    const printed = `${(await first).split("event: timeout")[0]}${resumed.replace("retry: 2000\n\n", "")}`;
    const shown = blocks.find(({ text }) => text.startsWith("retry: 2000"))?.text;
    expect(printed.replaceAll(/^data: .*$/gm, "data: {…}")).toBe(shown);
  });
});
