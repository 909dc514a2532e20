import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { SystemUser } from "./system_user.ts";

/** A program with its arguments and its folder. The folder is deleted by `remove` or when this process ends. */
export interface Program {
  readonly command: ReadonlyArray<string>;
  readonly folder: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The user who runs the program and owns the folder; by default, the user of this process. */
  readonly user?: SystemUser | null;
  /**
   * The signal that ends the program, by default `KILL`. Some programs need another signal, because `KILL` would leave
   * their shared memory or worker processes on the machine.
   */
  readonly endsBy?: "KILL" | "QUIT" | "TERM";
}

/**
 * A shell script that runs the program and reads from a pipe of this process. When the pipe closes, because this
 * process has ended in any way, the shell ends the program and removes the folder. When the shell reads the name of a
 * signal, it sends that signal to the program and keeps the folder.
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

type Shell = ChildProcess & { readonly stdin: Socket; readonly stdout: Socket };

/** A child process that ends when the current process ends, even if the current process is killed. */
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
    // The shell gets its own process group, because Ctrl+C in a terminal would end the shell before it ends the
    // program.
    const shell = spawn("sh", ["-c", supervisor, "sh", folder, endsBy, ...command], {
      cwd: folder,
      detached: true,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
      ...user,
    }) as Shell;
    const pid = await readPid(shell.stdout);
    // Open handles would keep this process alive.
    for (const handle of [shell, shell.stdin, shell.stdout]) handle.unref();
    return new SupervisedProcess(shell, pid, folder);
  }

  hasEnded(): boolean {
    const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", `${this.#pid}`], { encoding: "utf8" });
    return /^\s*(Z|$)/.test(stdout);
  }

  output(): Promise<string> {
    return readFile(join(this.#folder, "output"), "utf8");
  }

  /** Pauses the process and its children, as if the machine were frozen. */
  freeze(): void {
    this.#signal("SIGSTOP");
  }

  thaw(): void {
    this.#signal("SIGCONT");
  }

  /** Kills the process and its children. Keeps the folder. */
  async kill(): Promise<void> {
    this.#signal("SIGKILL");
    await this.#end("KILL\n");
  }

  /** Shuts the process down. Keeps the folder. */
  async stop(): Promise<void> {
    await this.#end("INT\n");
  }

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
        // The process has already exited, so it needs no signal.
      }
    }
  }
}

const readPid = async (output: Socket): Promise<number> => {
  const [line] = await once(output.setEncoding("utf8"), "data");
  return Number(line);
};

/** Returns all descendants of a process, even those in other process groups, because Postgres makes its own groups. */
const descendantsOf = (parent: number): ReadonlyArray<number> => {
  const processes = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const childrenOf = (pid: number): ReadonlyArray<number> =>
    processes.flatMap(([child = 0, ppid]) => (ppid === pid ? [child, ...childrenOf(child)] : []));
  return childrenOf(parent);
};

export const failStart = async (problem: string, running: SupervisedProcess): Promise<never> => {
  const output = await running.output().catch(() => "");
  throw new Error(`Cannot start ${problem}. Its output:\n${output}`);
};
