/**
 * Builds the image of deploy/Dockerfile without an engine: runs the commands of each stage on a copy of the files that
 * the stage copies, and starts the program of the last stage.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { listening } from "@accountlink/server/test_command_line";
import { type Copy, DockerfileParser } from "dockerfile-ast";
import { beforeAll, expect, it } from "vitest";
import { useFolder } from "../support/folder.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const deploy = join(root, "deploy");
const [dockerfile, ignored] = await Promise.all(
  ["Dockerfile", "Dockerfile.dockerignore"].map((name) => readFile(join(deploy, name), "utf8")),
);
const instructions = DockerfileParser.parse(dockerfile ?? "").getInstructions();

const parent = useFolder();

/** The environment of the commands, with the machine's settings of npm and of its network. */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(ACCOUNTLINK_|VITEST|NODE_(OPTIONS|ENV)|TEST$)/.test(name),
    ),
  ),
  PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
};

/** The rules of `.dockerignore`. The last one that matches a file decides whether an engine sends it. */
const rules = (ignored ?? "").split("\n").flatMap((line) => {
  const glob = line
    .replace("!", "")
    .replaceAll(".", "\\.")
    .replace(/^\*\*\//, "(.+/)?");
  const pattern = new RegExp(`^${glob.replaceAll(/(?<!\*)\*(?!\*)/g, "[^/]*").replace("**", ".*")}(/|$)`);
  return line === "" ? [] : [{ pattern, isSent: line.startsWith("!") }];
});

const isSent = (file: string): boolean => rules.findLast(({ pattern }) => pattern.test(file))?.isSent ?? true;

/** Copies the sources of a COPY instruction into a stage, as an engine does. */
const copyInto = async (stage: string, text: string, from: string | undefined): Promise<void> => {
  const inApp = (path: string) => path.replace(/^\/app\/?/, "");
  const words = text.split(/\s+/);
  const target = words.pop() ?? "";
  if (from !== undefined) {
    for (const source of words) {
      const to = join(stage, inApp(target));
      await cp(join(parent, from, inApp(source)), to, { recursive: true, verbatimSymlinks: true });
    }
    return;
  }
  for (const source of words) {
    const { stdout } = await run("git", ["ls-files", "-z", "--", source], { cwd: root });
    const files = stdout.split("\0").filter((file) => file !== "" && isSent(file));
    expect([source, files.length > 0]).toEqual([source, true]);
    await run("cp", ["--archive", "--parents", `--target-directory=${stage}`, ...files], { cwd: root });
  }
};

let image = "";

beforeAll(async () => {
  for (const instruction of instructions) {
    const text = instruction.getArgumentsContent() ?? "";
    if (instruction.getKeyword() === "FROM") {
      image = join(parent, /\sAS\s+(\S+)$/.exec(text)?.[1] ?? "image");
      await mkdir(image);
    }
    if (instruction.getKeyword() === "COPY")
      await copyInto(image, text, (instruction as Copy).getFromFlag()?.getValue() ?? undefined);
    if (instruction.getKeyword() === "RUN") {
      // Folders outside of /app are made within the image, and this machine has no user of Node's image.
      const command = text.replace("--owner=node /var", `${image}/var`);
      await run("sh", ["-ec", `exec </dev/null; mkdir -p ${image}/var/lib; ${command}`], {
        cwd: image,
        env: environment,
        maxBuffer: 2 ** 26,
      });
    }
  }
}, 20 * 60_000);

it("the image of deploy/Dockerfile starts, and has the server's bundle and the guide, no sources and no packages", async () => {
  const { stdout } = await run("find", [".", "-name", "*.ts", "-o", "-name", "node_modules"], { cwd: image });
  expect(stdout).toBe("");
  const { stdout: size } = await run("du", ["-sm", image]);
  expect(Number.parseInt(size, 10)).toBeLessThan(45);
  const argumentsOf = (name: string): ReadonlyArray<string> =>
    JSON.parse(instructions.findLast((each) => each.getKeyword() === name)?.getArgumentsContent() ?? "[]");
  const [, ...args] = [...argumentsOf("ENTRYPOINT"), ...argumentsOf("CMD")];
  const server = spawn(process.execPath, args, {
    cwd: image,
    env: {
      ...environment,
      ACCOUNTLINK_PORT: "0",
      ACCOUNTLINK_STORAGE: "memory",
      ACCOUNTLINK_PLATFORM: "none",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(server, "close").then(([code]) => code as number | null);
  try {
    const { url } = await listening({ stdout: server.stdout, stderr: server.stderr, ended });
    for (const path of ["/healthz", "/readyz", "/openapi.json", "/guide/"]) {
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
    }
  } finally {
    server.kill();
    await ended;
  }
});
