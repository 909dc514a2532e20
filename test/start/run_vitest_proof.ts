import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { whyNoPostgres, whyNoRedis } from "@accountlink/test-servers";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";

const missing = (await whyNoPostgres()) ?? (await whyNoRedis());

/** Runs a project that starts Postgres and Redis, as `npm test` and `npm run proof` do. */
const program = `
  import { runVitest } from ${JSON.stringify(new URL("../../tools/run_vitest.ts", import.meta.url).href)};
  await runVitest("Node.js/24", "contract-postgres-redis");`;

const descendantsOf = (root: number): ReadonlyMap<number, string> => {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).trim().split("\n");
  const found = new Map<number, string>();
  const add = (parent: number) => {
    for (const line of lines) {
      const [, pid, ppid, command = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      if (Number(ppid) !== parent) continue;
      found.set(Number(pid), command);
      add(Number(pid));
    }
  };
  add(root);
  return found;
};

const isRunning = (pid: number): boolean => {
  const state = execFileSync("sh", ["-c", `ps -o stat= -p ${pid} || true`], { encoding: "utf8" }).trim();
  return state !== "" && !state.startsWith("Z");
};

test.skipIf(missing !== null)(
  `SIGTERM ends vitest, its workers, Postgres and Redis${missing === null ? "" : ` (${missing})`}`,
  async () => {
    // With the URLs of running servers, the tests would start none.
    const env = { ...process.env, ACCOUNTLINK_TEST_DATABASE_URL: "", ACCOUNTLINK_TEST_REDIS_URL: "" };
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      env,
      stdio: "ignore",
    });
    const started = await eventually(() => {
      const all = descendantsOf(child.pid as number);
      for (const name of ["vitest", "postgres", "redis-server", "workers/forks"])
        expect([...all.values()].some((command) => command.includes(name))).toBe(true);
      return [...all.keys()];
    });
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([143, null]);
    await eventually(() => expect(started.filter(isRunning)).toEqual([]));
  },
);
