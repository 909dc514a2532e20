/** The JavaScript runtimes in which tests run the packages, and the command of each. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { root } from "../../tools/publishable.ts";
import { type Command, run } from "./project.ts";

type Node = "node20" | "node22" | "node24";
export type Runtime = Node | "deno" | "bun";

export interface Runtimes {
  /** The command to which a module's path is appended. */
  readonly commandOf: (runtime: Runtime) => Command;
  /** The folder that contains the programs of this release of Node, for `PATH`. */
  readonly programsOf: (node: Node) => string;
}

const makeRuntimes = (programsOf: Runtimes["programsOf"]): Runtimes => ({
  programsOf,
  commandOf: (runtime) => {
    if (runtime === "deno") return [join(root, "node_modules/deno/deno"), "run", "--allow-all"];
    if (runtime === "bun") return [join(root, "node_modules/bun/bin/bun.exe")];
    return [join(programsOf(runtime), "node")];
  },
});

/** The runtimes that are installed with the workspace. */
const runtimesHere: Runtimes = makeRuntimes((node) => {
  if (node === "node24") return dirname(process.execPath);
  throw new Error(`Cannot run ${node}: it is not installed`);
});

/** Releases of Node that only the proof downloads. */
const downloaded = { node20: "20.20.2", node22: "22.23.3" } as const;

export const installRuntimes = async (folder: string): Promise<Runtimes> => {
  const platform = `node-${process.platform}-${process.arch}`;
  for (const [node, version] of Object.entries(downloaded)) {
    const home = join(folder, node);
    await mkdir(home, { recursive: true });
    const options = ["--prefix", home, "--no-audit", "--no-fund"];
    await run(home, ["npm", "install", ...options, `${platform}@${version}`]);
  }
  return makeRuntimes((node) =>
    node === "node24" ? runtimesHere.programsOf(node) : join(folder, node, "node_modules", platform, "bin"),
  );
};
