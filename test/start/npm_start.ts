/** Runs the demo of `npm start`, as a first user does. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";

/**
 * Returns the environment of a user's terminal, without the variables that `npm test` sets. `ACCOUNTLINK_PORT` is 0,
 * which chooses a free port. With this variable, `npm start` still runs the demo.
 */
export const terminal = (): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(ACCOUNTLINK_|VITEST|NODE|INIT_CWD|TEST$|npm_(?!config_))/.test(name),
  );
  const path = process.env["PATH"]
    ?.split(delimiter)
    .filter((folder) => !folder.endsWith("node_modules/.bin"));
  return { ...Object.fromEntries(kept), PATH: path?.join(delimiter), ACCOUNTLINK_PORT: "0" };
};

export interface Demo {
  readonly npm: ChildProcess;
  readonly printed: string;
  readonly url: string;
  /** The printed keys: a global one, then one of a guild. */
  readonly keys: ReadonlyArray<string>;
  /** Seconds from `npm start` until the demo has printed its introduction. */
  readonly seconds: number;
}

/** Runs `npm start` in a checkout, and waits for the demo's introduction. */
export const startDemo = async (cwd: string, variables: NodeJS.ProcessEnv = {}): Promise<Demo> => {
  const started = performance.now();
  // `npm` gets its own process group, so that the test can find every process that `npm` starts.
  const npm = spawn("npm", ["start"], {
    cwd,
    env: { ...terminal(), ...variables },
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
  const url = /^listening on (\S+)$/m.exec(printed)?.[1] ?? "";
  const keys = [...new Set(printed.match(/alk_[0-9A-Za-z]{12}_[0-9A-Za-z_-]{43}/g))];
  return { npm, printed, url, keys, seconds: (performance.now() - started) / 1_000 };
};

const isAlive = ({ npm }: Demo): boolean => {
  try {
    return process.kill(-(npm.pid as number), 0);
  } catch {
    return false;
  }
};

export const killDemo = (demo: Demo) => {
  if (isAlive(demo)) process.kill(-(demo.npm.pid as number), "SIGKILL");
};

/** Stops a demo and returns the exit code once its whole process group has ended. */
export const stopDemo = async (demo: Demo, tell: () => void): Promise<number | null> => {
  const ended = once(demo.npm, "exit");
  tell();
  await ended;
  await eventually(() => expect(isAlive(demo)).toBe(false));
  return demo.npm.exitCode;
};

/** Like Ctrl+C in a terminal: every process of the group gets the signal, and npm also forwards it. */
export const interruptDemo = (demo: Demo): Promise<number | null> =>
  stopDemo(demo, () => process.kill(-(demo.npm.pid as number), "SIGINT"));
