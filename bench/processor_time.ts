/** What processes have spent, as Linux tells it. */
import { readdirSync, readFileSync } from "node:fs";

/** Processor time of a process and its children so far, in seconds; null where the system does not tell. */
export const processorTimeOf = (pid: number | undefined): number | null => {
  try {
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const family = processes.map(spentBy).filter((spent) => spent?.pid === pid || spent?.parent === pid);
    return family.length === 0 ? null : family.reduce((sum, spent) => sum + (spent?.seconds ?? 0), 0);
  } catch {
    return null;
  }
};

/** The kernel counts what ended in hundredths of a second, whatever its own clock, and what runs in nanoseconds. */
const ticksPerSecond = 100;

const spentBy = (name: string) => {
  try {
    // The name in parentheses may hold anything; the fields after it are numbered from 3.
    const fields = readFileSync(`/proc/${name}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ")
      .map(Number);
    const [, parent = 0] = fields;
    const ended = fields.slice(13, 15).reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond;
    const threads = readdirSync(`/proc/${name}/task`).map((thread) =>
      Number(readFileSync(`/proc/${name}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
    );
    return {
      pid: Number(name),
      parent,
      seconds: ended + threads.reduce((sum, spent) => sum + spent, 0) / 1e9,
    };
  } catch {
    // It has ended meanwhile.
    return null;
  }
};
