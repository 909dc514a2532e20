/** Contenders of the bench that embed the service: its listener for Node, and `fetch` on each runtime. */
import { join } from "node:path";
import type { Contender, Places } from "./contenders.ts";
import { embedderSecret } from "./fixture.ts";
import { type RunningServer, startServer } from "./server_process.ts";

const root = join(import.meta.dirname, "../..");

const embedders = [
  { name: "nodeListener", how: "listener", command: [process.execPath] },
  { name: "fetch on Node", how: "fetch", command: [process.execPath] },
  {
    name: "fetch on Deno",
    how: "fetch",
    command: [join(root, "node_modules/deno/deno"), "run", "--allow-all"],
  },
  { name: "fetch on Bun", how: "fetch", command: [join(root, "node_modules/bun/bin/bun.exe")] },
] as const;

/** @param startOwn starts the real server, which fills the data folder */
export const embeddersIn = (
  { folder }: Places,
  startOwn: (environment: Readonly<Record<string, string>>) => Promise<RunningServer>,
): ReadonlyArray<Contender> =>
  embedders.map(({ name, how, command: [program, ...options] }) => ({
    name,
    works: ["hit"],
    isAlike: true,
    start: async ({ isFirst, nodeOptions = [] }) => {
      const data = join(folder, name);
      if (isFirst) {
        const environment = {
          ACCOUNTLINK_STORAGE: "embedded",
          ACCOUNTLINK_DATA_DIR: data,
          ACCOUNTLINK_SECRET: Buffer.from(embedderSecret).toString("base64"),
        };
        await (await startOwn(environment)).stop();
      }
      const script = join(import.meta.dirname, "peers/embedder.ts");
      const home = { HOME: process.env["HOME"] ?? "" };
      return startServer([...nodeOptions, ...options, script, how, data], home, program);
    },
  }));
