/** Runs the cases of `clients/cases.json`: the same responses give the same results in every client. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { AccountLinkError, type Client, createClient } from "@accountlink/client";
import { whyNoAiohttp, whyNoPython } from "@accountlink/test-servers";
import { describe, expect, it } from "vitest";
import { type Case, cases, type Said, startCases } from "./cases.ts";
import { pathOf, pythonWithClient } from "./python.ts";

const key = `alk_${"k".repeat(12)}_${"s".repeat(43)}`;

const runByTypeScript = async (each: Case, url: string): Promise<Said> => {
  const { timeout = 15, retryFor = 30 } = each.options ?? {};
  const client = createClient({ url, key, timeout: timeout * 1_000, retryFor: retryFor * 1_000 });
  const [group = "", name = ""] = each.call.split(".");
  const method = (client[group as keyof Client] as never)[name] as (
    ...args: ReadonlyArray<unknown>
  ) => unknown;
  const begun = performance.now();
  const values = Object.values(each.input);
  // A client method takes required values as separate arguments, and all other values in one object.
  const required = method.length === 1 ? [each.input] : values.slice(0, method.length - 1);
  const rest = Object.fromEntries(Object.entries(each.input).slice(required.length));
  const args = method.length === 1 ? required : [...required, rest];
  const says = await Promise.resolve()
    .then(() => method(...args))
    .then(
      (value) => ({ value }),
      (error: unknown) => {
        if (!(error instanceof AccountLinkError)) throw error;
        return { ...(error as object), message: error.message };
      },
    );
  return { says, seconds: (performance.now() - begun) / 1_000 };
};

/** Runs a program that reads and writes JSON. */
const runProgram = async (
  [file, ...args]: readonly [string, ...ReadonlyArray<string>],
  env: NodeJS.ProcessEnv,
  input: unknown,
): Promise<unknown> => {
  const child = spawn(file, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(input));
  const printed = await text(child.stdout);
  return JSON.parse(printed);
};

it.concurrent.each(cases)("says it of $name", async (each) => {
  const { expectSaid, urlOf } = await startCases();
  expectSaid(each, await runByTypeScript(each, urlOf(each)));
});

const noPython = await whyNoPython();
const noAiohttp = await whyNoAiohttp();

describe.each([
  ["synchronous", noPython],
  ["asynchronous", noAiohttp],
])("the %s client in Python", (kind, whyNot) => {
  it.skipIf(whyNot !== null)(`says it of every case ${whyNot ?? ""}`, async () => {
    const { expectSaid, urlOf } = await startCases();
    const { file, env } = await pythonWithClient();
    const said = (await runProgram(
      [file, pathOf("test/client/cases.py"), kind],
      env,
      cases.map((each) => ({ ...each, url: urlOf(each) })),
    )) as ReadonlyArray<Said>;
    expect(said).toHaveLength(cases.length);
    for (const [index, each] of cases.entries()) expectSaid(each, said[index] as Said);
  });
});
