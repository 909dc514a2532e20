/** What others make of the OpenAPI document, as it is served: linters find nothing, generators make types of it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServerHere } from "../support/server.ts";
import { install, makeFolder, run } from "./project.ts";

const tools = {
  "@hey-api/openapi-ts": "0.99.0",
  "@redocly/cli": "2.77.0",
  "@stoplight/spectral-cli": "6.16.3",
  "openapi-typescript": "7.13.0",
  typescript: "5.9.3",
};

/** Programs of users with the types of each generator. */
const programs = {
  "paths_program.ts": `
import type { components, operations, paths } from "./paths.js";

type Found = paths["/v2/chat"]["get"]["responses"][200]["content"]["application/json"];
export const gameIdOf = ({ data }: Found): string | null => data.gameId;
export const query: operations["getChat"]["parameters"]["query"] = { chatId: "100001" };

type Failure = components["schemas"]["ErrorEnvelope"];
export const isMissing = ({ error }: Failure): boolean => error.code === "LINK_NOT_FOUND";
// @ts-expect-error No error has this code.
export const isOther = ({ error }: Failure): boolean => error.code === "LINK_LOST";
`,
  "client_program.ts": `
import { type ErrorEnvelope, type GetChatAnswer, getChat } from "./client/index.js";

export const gameIdOf = async (chatId: string): Promise<GetChatAnswer["data"]["gameId"]> => {
  const { data, error } = await getChat({ query: { chatId } });
  if (data === undefined) throw new Error(error.error.code satisfies ErrorEnvelope["error"]["code"]);
  return data.data.gameId;
};
// @ts-expect-error A lookup needs a chat ID.
export const incomplete = () => getChat({ query: {} });
`,
};

let folder: Awaited<ReturnType<typeof makeFolder>>;

const runTool = (name: string, ...args: ReadonlyArray<string>) =>
  run(folder.path, [join(folder.path, "node_modules/.bin", name), ...args]);

beforeAll(async () => {
  folder = await makeFolder();
  await install(folder.path, { dependencies: tools }, new Map());
  const server = await startServerHere({ fixture: {} });
  const document = await (await fetch(`${server.url}/openapi.json`)).text();
  await server.stop();
  const files = {
    ...programs,
    "openapi.json": document,
    ".spectral.json": JSON.stringify({ extends: "spectral:oas" }),
    "redocly.yaml": JSON.stringify({ extends: ["recommended"] }),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
}, 600_000);

afterAll(() => folder[Symbol.asyncDispose]());

it("has no finding of Spectral", async () => {
  const findings = await runTool("spectral", "lint", "openapi.json", "--format=json", "--quiet");
  expect(JSON.parse(findings)).toEqual([]);
});

it("has no problem for Redocly", async () => {
  const report = await runTool("redocly", "lint", "openapi.json", "--config=redocly.yaml", "--format=json");
  expect(JSON.parse(report)).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] });
});

it("gives types that strict programs use", async () => {
  await runTool("openapi-typescript", "openapi.json", "--output=paths.ts");
  await runTool("openapi-ts", "--input=openapi.json", "--output=client");
  // The client is made for bundlers.
  const modules = ["--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"];
  expect(
    await runTool("tsc", "--strict", "--noEmit", ...modules, ...Object.keys(programs)).catch(String),
  ).toBe("");
});
