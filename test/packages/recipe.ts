/** Installs and runs the recipes of `examples/recipes`, as their README says. */
import { globSync, readFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@accountlink/test-servers";
import { rolldown } from "rolldown";
import { expect, vi } from "vitest";
import { root } from "../../tools/publishable.ts";
import { startBrowser } from "../browser/start_browser.ts";
import { type RunningProgram, startProgram } from "../client/program.ts";
import { eventually } from "../support/eventually.ts";
import { type Command, compile, install, type ProjectManifest, run, type Tarballs } from "./project.ts";
import type { Runtime, Runtimes } from "./runtimes.ts";

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

const runInBrowser = async (module: string): Promise<ReadonlyArray<string>> => {
  const bundle = await rolldown({ input: module, platform: "browser" });
  const { output } = await bundle.generate();
  await bundle.close();
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    const lines: Array<string> = [];
    page.on("console", (message) => lines.push(message.text()));
    page.on("pageerror", (error) => lines.push(String(error)));
    // Web Crypto needs a secure context, and browsers treat the loopback address as one.
    const origin = "http://127.0.0.1";
    await page.route(`${origin}/main.js`, (route) =>
      route.fulfill({ contentType: "text/javascript", body: output[0].code }),
    );
    await page.route(`${origin}/`, (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<link rel="icon" href="data:,"><script type="module">await import("/main.js"); console.log("ended");</script>`,
      }),
    );
    await page.goto(`${origin}/`);
    await eventually(() => expect(lines.at(-1)).toMatch(/^ended$|Error/));
    return lines.at(-1) === "ended" ? lines.slice(0, -1) : lines;
  } finally {
    await browser.close();
  }
};

interface Sessions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const create = ({ url, headers }: Sessions): Promise<string> =>
  eventually(async () => {
    const created = await fetch(url, { method: "POST", headers, body: JSON.stringify({ clientId: "7" }) });
    // Retry a refused request: after six sessions, a key may create only one session every 10 seconds.
    expect(created.status).toBe(201);
    const { data } = (await created.json()) as { readonly data: { readonly sid: string } };
    return `${url}/${data.sid}`;
  });

/** A stream that has sent its first event. */
interface OpenStream {
  readonly session: string;
  /** Waits for the end and returns everything after the first event. */
  readonly rest: () => Promise<string>;
}

/** Opens the stream of a new session, and waits for its first event. */
const openStream = async (sessions: Sessions): Promise<OpenStream> => {
  const session = await create(sessions);
  const { body } = await fetch(`${session}/stream`, { headers: sessions.headers });
  if (body === null) throw new Error("Cannot read the stream: it has no body");
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const readTo = async (isEnough: (text: string) => boolean) => {
    let text = "";
    while (!isEnough(text)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
    }
    return text;
  };
  expect(await readTo((text) => /^event: session\n.*\n\n/m.test(text))).toContain('"state":"pending"');
  return { session, rest: () => readTo(() => false) };
};

/** Expects that a stream sends events as they happen, and ends with its session. */
const expectStream = async (sessions: Sessions): Promise<void> => {
  const { session, rest } = await openStream(sessions);
  const cancelled = await fetch(session, { method: "DELETE", headers: sessions.headers });
  expect(cancelled.status).toBe(200);
  expect(await rest()).toMatch(/^event: cancelled\n.*\n\n$/m);
};

/** Expects that a long poll stays open, and is answered when a stream of the same session begins. */
const expectPoll = async (sessions: Sessions): Promise<void> => {
  const { headers } = sessions;
  let pause = 50;
  await eventually(async () => {
    pause *= 2;
    const session = await create(sessions);
    const onAnswer = vi.fn<() => void>();
    const poll = fetch(`${session}?wait=25`, { headers }).finally(onAnswer);
    await sleep(pause);
    expect(onAnswer).not.toHaveBeenCalled();
    // A stream with this header need not keep the interval of reads.
    const stream = await fetch(`${session}/stream`, { headers: { ...headers, "last-event-id": "0" } });
    expect(stream.status).toBe(200);
    expect(await (await poll).json()).toMatchObject({ data: { state: "pending" } });
    await stream.body?.cancel();
  });
};
