/** Runs the static checks: types, lint, format, boundaries, unused code. Exits with 1 if a step fails. */
import { execFile, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { writeTypes } from "./written_types.ts";

type Command = readonly [program: string, ...args: ReadonlyArray<string>];

/**
 * Settings of the compilers, which are written in Go: one thread each, since the steps already run in parallel, and no
 * garbage collection until one takes more memory than it usually needs.
 */
const environment = { ...process.env, GOMAXPROCS: "1", GOGC: "off", GOMEMLIMIT: "3GiB" };

const node = process.execPath;

/** Returns the path of the TypeScript compiler that has the rules of Effect built in. */
const findEffectCompiler = async (): Promise<string> => {
  const command = ["node_modules/@effect/tsgo/dist/effect-tsgo.cjs", "get-exe-path"];
  return (await promisify(execFile)(node, command)).stdout.trim();
};

const typesOf = (project: string): Command => [
  node,
  "node_modules/typescript/bin/tsc",
  "-p",
  project,
  "--singleThreaded",
];

const steps = async (): Promise<Readonly<Record<string, Command>>> => ({
  "types, Effect": [await findEffectCompiler(), "-p", "tsconfig.json", "--singleThreaded"],
  lint: [node, "node_modules/oxlint/bin/oxlint", "--threads=1"],
  "unused code": [node, "node_modules/knip/bin/knip.js"],
  format: [node, "node_modules/@biomejs/biome/bin/biome", "check"],
  boundaries: [
    node,
    "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs",
    "--output-type=err-long",
    "packages",
    "apps",
    "bench",
    "examples",
  ],
  examples: [node, "test/docs/compile_examples.ts"],
  sizes: [node, "test/packages/check_sizes.ts"],
  // The packages as users get them, and without the types of Node.
  "published types": typesOf("tsconfig.published.json"),
  "portable types": typesOf("tsconfig.portable.json"),
});

/** Runs the steps in parallel and prints each result, with the output of failed steps. Returns whether all passed. */
const check = async (): Promise<boolean> => {
  writeTypes();
  const passed = await Promise.all(Object.entries(await steps()).map(runStep));
  return passed.every(Boolean);
};

const runStep = async ([name, [program, ...args]]: [string, Command]): Promise<boolean> => {
  const started = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: environment });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("exit", resolve)),
  ]);
  const time = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  const passed = code === 0;
  console.log(`${passed ? "ok    " : "FAILED"}  ${name.padEnd(16)} ${time}`);
  if (!passed) console.log(`${stdout}${stderr}`);
  return passed;
};

process.exitCode = (await check()) ? 0 : 1;
