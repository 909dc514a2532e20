/**
 * The image of deploy/Dockerfile. Docker is not needed: the commands are run as they are, in a folder that holds what the
 * COPY lines would bring.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, lstat, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { argumentsOf, deploy, execFormOf, image, root } from "./dockerfile.ts";

const run = promisify(execFile);

const ignored = await readFile(join(deploy, "Dockerfile.dockerignore"), "utf8");

/** Whether .dockerignore leaves the file out. */
const isIgnored = (path: string): boolean => {
  const [, ...patterns] = ignored.trim().split("\n");
  const left = patterns.filter((pattern) => !pattern.startsWith("!"));
  const names = left.filter((pattern) => pattern.startsWith("**/")).map((pattern) => pattern.slice(3));
  return (
    names.some((name) => (name.startsWith("*") ? path.endsWith(name.slice(1)) : basename(path) === name)) ||
    left.includes(path.slice(root.length))
  );
};

/** Has the instructions of the Dockerfile done, with a folder for /app of each stage. Gives that of the image. */
const buildImage = async (folder: string): Promise<string> => {
  let app = "";
  let stage = "";
  for (const instruction of image.getInstructions()) {
    const content = instruction.getArgumentsContent() ?? "";
    const keyword = instruction.getKeyword();
    if (keyword === "FROM") {
      stage = / AS (\w+)$/.exec(content)?.[1] ?? "image";
      app = join(folder, stage, "app");
      await mkdir(app, { recursive: true });
    }
    const [, from] = / --from=(\w+) /.exec(instruction.getTextContent()) ?? [];
    if (keyword === "RUN") await run("sh", ["-ec", content], { cwd: app, env });
    if (keyword !== "COPY") continue;
    const words = content.split(" ");
    const [target = ""] = words.splice(-1);
    if (from === undefined) await copyFromCheckout(words, app, target);
    else await copyFromStage(join(folder, from), words, join(folder, stage), target);
  }
  return app;
};

const copyFromStage = async (from: string, sources: ReadonlyArray<string>, to: string, target: string) => {
  for (const source of sources)
    await cp(join(from, source), join(to, target), { recursive: true, verbatimSymlinks: true });
};

const copyFromCheckout = async (sources: ReadonlyArray<string>, app: string, target: string) => {
  for (const source of sources) {
    expect(ignored).toContain(`\n!${source.split("/")[0]}\n`);
    const to = join(app, target === "./" ? source : target);
    // A link that cp resolves leads back to the checkout.
    const filter = (path: string) => !isIgnored(path);
    await cp(join(root, source), to, { recursive: true, verbatimSymlinks: true, filter });
  }
};

/** This Node comes first. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}` };

describe("the image", () => {
  let folder = "";
  let app = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "accountlink-image-"));
    app = await buildImage(folder);
  }, 600_000);
  afterAll(() => rm(folder, { recursive: true }));

  it("is small and has nothing of tests in it", async () => {
    const bytes = await sizeOf(app);
    console.log(`${Math.round(bytes / 2 ** 20)} MB beside Node`);
    expect(bytes).toBeLessThan(150 * 2 ** 20);
    const packages = await readdir(join(app, "node_modules/.pnpm"));
    expect(packages.filter((name) => /^(vitest|typescript|fast-check|playwright)/.test(name))).toEqual([]);
    expect(await readdir(join(app, "packages"))).not.toContain("conformance");
  });

  it("serves, is found alive by its health check, and ends with 0", async () => {
    const [program = "", ...args] = [...execFormOf("ENTRYPOINT"), ...execFormOf("CMD")];
    expect(program).toBe("node");
    const settings = {
      PATH: env.PATH,
      ACCOUNTLINK_STORAGE: "memory",
      ACCOUNTLINK_PLATFORM: "dev",
      ACCOUNTLINK_PORT: "0",
    };
    const server = spawn(process.execPath, args, {
      cwd: app,
      env: settings,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(server, "exit");
    try {
      const [, port = ""] =
        /^listening on http:\/\/127\.0\.0\.1:(\d+)$/.exec(await firstLineOf(server)) ?? [];
      expect((await fetch(`http://127.0.0.1:${port}/guide`)).status).toBe(200);
      const [healthcheck = ""] = argumentsOf("HEALTHCHECK");
      const [, ...check] = JSON.parse(healthcheck.slice(healthcheck.indexOf("["))) as ReadonlyArray<string>;
      const checkOn = (ACCOUNTLINK_PORT: string) =>
        run(process.execPath, check, { env: { ACCOUNTLINK_PORT } });
      await checkOn(port);
      const elsewhere = checkOn("1");
      await expect(elsewhere).rejects.toMatchObject({ code: 1 });
    } finally {
      server.kill("SIGTERM");
      await ended;
    }
    expect(server.exitCode).toBe(0);
  });
});

const firstLineOf = async ({ stdout }: ChildProcess): Promise<string> => {
  let printed = "";
  for await (const chunk of stdout?.setEncoding("utf8") ?? []) {
    printed += String(chunk);
    if (printed.includes("\n")) break;
  }
  return printed.split("\n")[0] ?? "";
};

const sizeOf = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await lstat(join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};
