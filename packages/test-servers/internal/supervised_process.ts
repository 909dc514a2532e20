import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { SystemUser } from "./system_user.ts";

/** What is started: a program and its arguments, in a folder of its own that goes with it. */
export interface Program {
  readonly command: ReadonlyArray<string>;
  readonly folder: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Who runs it and owns the folder; this process's own user when left out. */
  readonly user?: SystemUser | null;
  /** The signal that ends it for good, when `KILL` would leave something of it on the machine. */
  readonly endsBy?: "KILL" | "QUIT";
}

/**
 * A shell stands between, and reads from a pipe whose other end is ours. It ends when we do, whichever way: then the
 * program is ended and its folder removed. A line with the name of a signal ends the program by that, and keeps the folder.
 */
const supervisor = `
folder=$1; signal=$2; shift 2
"$@" </dev/null >>"$folder/output" 2>&1 &
child=$!
echo "$child"
if read -r told; then signal=$told; fi
kill -s "$signal" "$child" 2>/dev/null
kill -s CONT "$child" 2>/dev/null
wait "$child" 2>/dev/null
[ -n "$told" ] || rm -rf "$folder"
`;

/** The shell, with the pipes that it was started with. */
type Shell = ChildProcess & { readonly stdin: Socket; readonly stdout: Socket };

/** A process that does not outlive this one, not even when this one is killed. */
export class SupervisedProcess {
  readonly #shell: Shell;
  readonly #pid: number;
  readonly #folder: string;

  private constructor(shell: Shell, pid: number, folder: string) {
    this.#shell = shell;
    this.#pid = pid;
    this.#folder = folder;
  }

  static async start({ command, folder, env, user, endsBy = "KILL" }: Program): Promise<SupervisedProcess> {
    // In a group of its own, since the interrupt of a terminal would end the shell before it could end anything.
    const shell = spawn("sh", ["-c", supervisor, "sh", folder, endsBy, ...command], {
      cwd: folder,
      detached: true,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
      ...user,
    }) as Shell;
    const pid = await readPid(shell.stdout);
    // Nobody waits for it: this process may end while it runs.
    for (const handle of [shell, shell.stdin, shell.stdout]) handle.unref();
    return new SupervisedProcess(shell, pid, folder);
  }

  /** Whether the program has ended by itself. The shell has not asked for its remains yet. */
  hasEnded(): boolean {
    const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", `${this.#pid}`], { encoding: "utf8" });
    return /^\s*(Z|$)/.test(stdout);
  }

  /** Everything that the program has printed. */
  output(): Promise<string> {
    return readFile(join(this.#folder, "output"), "utf8");
  }

  /** Stops the process and those that it started where they are, as if their machine had frozen. */
  freeze(): void {
    this.#signal("SIGSTOP");
  }

  /** Lets frozen processes go on. */
  thaw(): void {
    this.#signal("SIGCONT");
  }

  /** Kills the process at once, and those that it started. Its folder stays. */
  async kill(): Promise<void> {
    this.#signal("SIGKILL");
    await this.#end("KILL\n");
  }

  /** Ends the process as it wishes to be ended. Its folder stays. */
  async stop(): Promise<void> {
    await this.#end("INT\n");
  }

  /** Ends the process and removes its folder. */
  async remove(): Promise<void> {
    await this.#end("");
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #end(line: string): Promise<void> {
    if (this.#shell.exitCode !== null) return;
    const exited = once(this.#shell, "exit");
    this.#shell.ref();
    this.#shell.stdin.end(line);
    await exited;
  }

  #signal(name: NodeJS.Signals): void {
    for (const pid of [this.#pid, ...descendantsOf(this.#pid)]) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended meanwhile.
      }
    }
  }
}

const readPid = async (output: Socket): Promise<number> => {
  const [line] = await once(output.setEncoding("utf8"), "data");
  return Number(line);
};

/** The processes that it started, and theirs. Those of Postgres share no group with it. */
const descendantsOf = (parent: number): ReadonlyArray<number> => {
  const processes = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const childrenOf = (pid: number): ReadonlyArray<number> =>
    processes.flatMap(([child = 0, ppid]) => (ppid === pid ? [child, ...childrenOf(child)] : []));
  return childrenOf(parent);
};

/** Fails with all that a program has printed which is not there as it should be. */
export const failStart = async (problem: string, running: SupervisedProcess): Promise<never> => {
  const output = await running.output().catch(() => "");
  throw new Error(`Cannot start ${problem}. Its output:\n${output}`);
};
