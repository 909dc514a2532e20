/**
 * Runs `npm start` in a fresh clone, as a first user does. Then runs the documented steps of operators on copies of the
 * installed clone, because three installations would take half a minute of processor time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { clone, installedMegabytes, makeClone, run, terminal } from "./fresh_clone.ts";

beforeAll(makeClone);

interface Demo {
  readonly npm: ChildProcess;
  readonly printed: string;
  /** Seconds from `npm start` until the demo has printed its introduction. */
  readonly seconds: number;
}

const startDemo = async (): Promise<Demo> => {
  const started = performance.now();
  // `npm` gets its own process group, so that the test can find every process that `npm` starts.
  const npm = spawn("npm", ["start"], {
    cwd: clone,
    env: terminal(),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const problems = text(npm.stderr);
  let printed = "";
  const introduced = new Promise<void>((resolve) => {
    npm.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      if (printed.includes("Stop with Ctrl+C.")) resolve();
    });
  });
  const ended = once(npm, "exit").then(async () => {
    throw new Error(`Cannot start the demo: npm ended with ${npm.exitCode} and printed\n${await problems}`);
  });
  await Promise.race([introduced, ended]);
  // `ended` also rejects when a test stops the running demo. That is no error.
  ended.catch(() => {});
  return { npm, printed, seconds: (performance.now() - started) / 1_000 };
};

const isAlive = ({ npm }: Demo): boolean => {
  try {
    return process.kill(-(npm.pid as number), 0);
  } catch {
    return false;
  }
};

const kill = (demo: Demo) => {
  if (isAlive(demo)) process.kill(-(demo.npm.pid as number), "SIGKILL");
};

/** Stops a demo and returns the exit code once its whole process group has ended. */
const stop = async (demo: Demo, tell: () => void): Promise<number | null> => {
  const ended = once(demo.npm, "exit");
  tell();
  await ended;
  await eventually(() => expect(isAlive(demo)).toBe(false));
  return demo.npm.exitCode;
};

const keysIn = ({ printed }: Demo): ReadonlyArray<string> => [
  ...new Set(printed.match(/alk_[0-9A-Za-z]{12}_[0-9A-Za-z_-]{43}/g)),
];

/**
 * Runs a shell command that the demo has printed. Repeats the command if the rate limit of its key refused the request.
 */
const runLine = (line: string): Promise<{ readonly data?: unknown }> =>
  eventually(
    async () => {
      const { stdout } = await run("sh", ["-c", line], { env: terminal() });
      const answer = JSON.parse(stdout) as { readonly status: number; readonly data?: unknown };
      expect(answer.status).toBe(200);
      return answer;
    },
    { interval: 500 },
  );

test("npm start in a fresh clone runs a demo, and ends all processes with exit code 0 on a signal", async () => {
  const first = await startDemo();
  try {
    expect(first.printed).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/m);
    expect(keysIn(first)).toHaveLength(2);

    const lines = first.printed.split("\n").filter((line) => line.startsWith("  curl "));
    expect(lines).toHaveLength(3);
    const answers = [];
    for (const line of lines) answers.push((await runLine(line)).data);
    expect(answers).toMatchObject([
      { chatId: "100001", gameId: "1" },
      { gameId: "2", chatIds: ["100003", "100002"] },
      { chatId: "100004", gameId: "3", previousGameId: null },
    ]);
    expect(await stop(first, () => first.npm.kill("SIGTERM"))).toBe(0);
  } finally {
    kill(first);
  }

  const second = await startDemo();
  try {
    expect(keysIn(second)).toEqual(keysIn(first));
    // Like Ctrl+C in a terminal: every process of the group gets the signal, and npm also forwards it.
    expect(await stop(second, () => process.kill(-(second.npm.pid as number), "SIGINT"))).toBe(0);
  } finally {
    kill(second);
  }
  // Operators start without the demo's data, so remove it before the clone is copied.
  await rm(join(clone, "data"), { recursive: true });
  const megabytes = await installedMegabytes();
  console.log(
    `npm start: ${first.seconds.toFixed(1)} s and ${megabytes} MB in a fresh clone, ${second.seconds.toFixed(1)} s again`,
  );
  expect(megabytes).toBeLessThanOrEqual(260);
});

await import("../operating/small_host.ts");
await import("../operating/first_hour.ts");
