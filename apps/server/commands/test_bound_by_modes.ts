/** For tests: runs commands in a process that the modes of files bind, also where tests run as root. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { type Ended, runInProcess } from "./test_command_line.ts";

type Invocations = ReadonlyArray<
  readonly [words: ReadonlyArray<string>, environment: Readonly<Record<string, string>>]
>;

/** Root may open every file by these capabilities. Without them, root is a user like others. */
const dropped = "-dac_override,-dac_read_search";

const command = (...args: ReadonlyArray<string>): readonly [string, ReadonlyArray<string>] =>
  process.getuid?.() === 0
    ? ["setpriv", [`--bounding-set=${dropped}`, `--inh-caps=${dropped}`, ...args]]
    : [args[0] as string, args.slice(1)];

/** Runs commands one after the other, each until it ends. */
export const runBoundByModes = async (invocations: Invocations): Promise<ReadonlyArray<Ended>> => {
  const child = spawn(...command(process.execPath, import.meta.filename), {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(invocations));
  return JSON.parse(await text(child.stdout)) as ReadonlyArray<Ended>;
};

if (process.argv[1] === import.meta.filename) {
  const ended: Array<Ended> = [];
  for (const invocation of JSON.parse(await text(process.stdin)) as Invocations) {
    ended.push(await runInProcess(...invocation));
  }
  process.stdout.write(JSON.stringify(ended));
}
