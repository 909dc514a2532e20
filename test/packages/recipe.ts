/** Installs and runs the recipes of `examples/recipes`, as their README says. */
import { globSync, readFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { freePort } from "@accountlink/test-servers";
import { expect } from "vitest";
import { root } from "../../tools/publishable.ts";
import { type RunningProgram, startProgram } from "../client/program.ts";
import { eventually } from "../support/eventually.ts";
import { runInBrowser } from "./browser_program.ts";
import { type Command, compile, install, type ProjectManifest, run, type Tarballs } from "./project.ts";
import type { Runtime, Runtimes } from "./runtimes.ts";
import { expectPoll, expectStream, type OpenStream, openStream, type Sessions } from "./use_sessions.ts";

export interface Recipe {
  readonly name: string;
  readonly runtimes: ReadonlyArray<Runtime | "workerd" | "chromium">;
  /** The lines that the program prints; absent if the program starts a server. */
  readonly output?: ReadonlyArray<string>;
  /** The path at which a server mounts the service. */
  readonly basePath?: string;
  /** The exit code of a server; 0 by default. */
  readonly exitCode?: number;
  readonly manifest: ProjectManifest;
  readonly scripts: Readonly<Record<string, string>>;
}

export const recipes: ReadonlyArray<Recipe> = globSync("examples/recipes/*/package.json", { cwd: root })
  .toSorted()
  .map((file) => {
    const manifest = JSON.parse(readFileSync(join(root, file), "utf8")) as ProjectManifest & {
      readonly recipe: Pick<Recipe, "runtimes" | "output" | "basePath" | "exitCode">;
      readonly scripts?: Readonly<Record<string, string>>;
    };
    const { recipe, scripts = {} } = manifest;
    return { name: file.split("/")[2] ?? "", ...recipe, manifest, scripts };
  });

/** Copies a recipe into a folder, installs it from the tarballs, checks its types and builds it. */
export const makeRecipe = async ({ name, manifest, scripts }: Recipe, folder: string, tarballs: Tarballs) => {
  await mkdir(dirname(folder), { recursive: true });
  await cp(join(root, "examples/recipes", name), folder, { recursive: true });
  await install(folder, manifest, tarballs);
  expect(await compile(folder, { emit: !("start" in scripts) })).toBe("");
  if ("build" in scripts) await run(folder, ["npm", "run", "build"]);
};

/** Runs a recipe in the folder and compares its behaviour with the documented one. */
export const expectRecipe = async (
  recipe: Recipe,
  runtime: Recipe["runtimes"][number],
  folder: string,
  runtimes: Runtimes,
): Promise<void> => {
  if (runtime === "chromium") {
    expect(await runInBrowser(join(folder, "main.js"))).toEqual(recipe.output);
    return;
  }
  const port = await freePort();
  const node = runtime === "node20" || runtime === "node22" ? runtime : "node24";
  const env = {
    HOME: process.env["HOME"] ?? "",
    PATH: `${runtimes.programsOf(node)}:${process.env["PATH"]}`,
    PORT: String(port),
  };
  const program = startProgram(commandOf(recipe, runtime, runtimes), folder, env);
  const closesItself = runtime !== "workerd" && recipe.exitCode === undefined;
  let open: OpenStream | undefined;
  try {
    if (recipe.output === undefined) {
      const sessions = await useService(`http://127.0.0.1:${port}`, recipe.basePath ?? "", program);
      await expectStream(sessions);
      await expectPoll(sessions);
      if (closesItself) open = await openStream(sessions);
    } else {
      expect(await program.ended).toBe(0);
      expect(program.output().trim().split("\n")).toEqual(recipe.output);
    }
  } catch (cause) {
    throw new Error(`The recipe ${recipe.name} printed:\n${program.output()}`, { cause });
  } finally {
    await program.stop();
  }
  if (open !== undefined) expect(await open.rest()).toMatch(/^event: timeout\n.*\n\n$/m);
  // A server must handle the signal that stops it, and exit with its documented code. A server that the signal kills
  // has the exit code null.
  if (recipe.output === undefined && runtime !== "workerd")
    expect(await program.ended).toBe(recipe.exitCode ?? 0);
};

const commandOf = ({ scripts }: Recipe, runtime: Runtime | "workerd", runtimes: Runtimes): Command => {
  const start = scripts["start"];
  // With `exec` the program replaces the shell, so it gets the signal.
  if (start !== undefined) return ["sh", "-c", `PATH="node_modules/.bin:$PATH"; exec ${start}`];
  if (runtime === "workerd") throw new Error('Cannot start workerd: the recipe has no script "start"');
  const [program, ...options] = runtimes.commandOf(runtime);
  return [program, ...options, runtime.startsWith("node") ? "main.js" : "main.ts"];
};

const useService = async (origin: string, basePath: string, program: RunningProgram): Promise<Sessions> => {
  await eventually(async () => expect((await fetch(origin)).status).toBe(200));

  const chat = `${origin}${basePath}/v2/chat?chatId=100001`;
  const refused = await fetch(chat);
  expect(refused.status).toBe(401);
  expect(await refused.json()).toMatchObject({ error: { code: "INVALID_API_KEY" } });

  const key = await program.untilPrinted(/^Key: (alk_\S+)$/m);
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const write = (chatId: string) => ({
    method: "PATCH",
    headers,
    body: JSON.stringify({ chatId, gameId: "1" }),
  });
  const game = `${origin}${basePath}/v2/game`;
  const atOnce = ["100002", "100003", "100004", "100005"].map((chatId) => fetch(game, write(chatId)));
  for (const { status } of await Promise.all(atOnce)) expect([200, 429]).toContain(status);
  const written = await fetchInLimits(game, write("100001"));
  expect(written).toMatchObject({ data: { gameId: "1", previousGameId: null } });
  expect(await fetchInLimits(chat, { headers })).toMatchObject({ data: { gameId: "1" } });
  return { url: `${origin}${basePath}/v2/sessions`, headers };
};

/** Retries until the key's limit admits the request, and returns the answer. */
const fetchInLimits = async (url: string, init: RequestInit): Promise<unknown> => {
  const response = await eventually(async () => {
    const answer = await fetch(url, init);
    expect(answer.status).not.toBe(429);
    return answer;
  });
  return response.json();
};
