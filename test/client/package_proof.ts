/** Tests the compiled client in an empty project: its types need no other package, no Node types and no DOM types. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { useFolder } from "../support/folder.ts";
import { pathOf } from "./python.ts";

const run = promisify(execFile);

const folder = useFolder();
const compile = async (options: string): Promise<string> => {
  const tsc = pathOf("node_modules/typescript/bin/tsc");
  const { stdout } = await run(
    process.execPath,
    [tsc, ...options.split(" "), "--strict", "--exactOptionalPropertyTypes"],
    { cwd: folder },
  ).catch((failed: { stdout: string }) => failed);
  return stdout;
};
const expectCompiled = async (options: string) => expect(await compile(options)).toBe("");

const program = `
import { AccountLinkError, type ChatLookup, createClient, type VerificationSession } from "@accountlink/client";

const client = createClient({ url: "http://127.0.0.1:1", retryFor: 0 });

export const gameOf = async (chatId: string): Promise<string | number> => {
  const found: ChatLookup | null | AccountLinkError = await client.links.get(chatId).catch((error: unknown) => {
    if (error instanceof AccountLinkError) return error;
    throw error;
  });
  if (found === null) return "none";
  if (!(found instanceof AccountLinkError)) return found.gameId;
  if (found.code === "BULK_LIMIT_EXCEEDED") return found.details.limit;
  // @ts-expect-error: the details depend on the code
  const limit = () => found.details.limit;
  return limit.name === "limit" ? found.code : "none";
};

export async function* statesOf(sid: string): AsyncGenerator<VerificationSession["state"]> {
  for await (const { state } of client.sessions.watch(sid)) yield state;
}

console.log(await gameOf("100001"));
`;

beforeAll(async () => {
  const installed = join(folder, "node_modules/@accountlink/client");
  await mkdir(installed, { recursive: true });
  await expectCompiled(
    `${pathOf("packages/client/mod.ts")} --ignoreConfig --outDir ${installed} --declaration --rewriteRelativeImportExtensions --target es2022 --lib es2023,webworker --module nodenext`,
  );
  const manifest = { name: "@accountlink/client", type: "module", exports: "./mod.js" };
  await writeFile(join(installed, "package.json"), JSON.stringify(manifest));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(join(folder, "program.ts"), program);
});

it.each([
  ["nodenext", "dom"],
  ["bundler", "webworker"],
])("the compiled client type-checks with module resolution %s and lib %s", async (moduleResolution, lib) => {
  const module = moduleResolution === "bundler" ? "esnext" : "nodenext";
  const platform = `--lib es2022,${lib} --module ${module} --moduleResolution ${moduleResolution}`;
  await expectCompiled(`program.ts --noEmit --skipLibCheck false --target es2022 ${platform}`);
});

it("the compiled client can be imported in CommonJS projects", async () => {
  const project = join(folder, "commonjs");
  await mkdir(project);
  const use = 'createClient({ url: "https://links.example" }).sessions.redirectUrl("vs_1")';
  const from = '"@accountlink/client"';
  const files = {
    "package.json": '{ "type": "commonjs" }',
    "static.ts": `import { createClient } from ${from};\nconsole.log(${use});\n`,
    "module.mts": `import { createClient } from ${from};\nconsole.log(${use});\n`,
    "dynamic.ts": `void import(${from}).then(({ createClient }) => console.log(${use}));\n`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text);
  const options = "--target es2022 --lib es2022,dom --module";
  expect(await compile(`commonjs/static.ts --noEmit ${options} node16`)).toContain("TS1479");
  await expectCompiled(`commonjs/module.mts commonjs/dynamic.ts ${options} node16`);
  await expectCompiled(`commonjs/static.ts ${options} nodenext`);
  for (const compiled of ["module.mjs", "dynamic.js", "static.js"]) {
    const { stdout } = await run(process.execPath, [compiled], { cwd: project });
    expect([compiled, stdout]).toEqual([compiled, "https://links.example/v2/sessions/vs_1/redirect\n"]);
  }
});

it("the compiled client runs", async () => {
  const { stdout } = await run(process.execPath, ["program.ts"], { cwd: folder });
  expect(stdout).toBe("NETWORK_ERROR\n");
});
