/** What processes have spent, as Linux tells it. */
import { readdirSync, readFileSync } from "node:fs";

/** The kernel counts in hundredths of a second, whatever its own clock. */
const ticksPerSecond = 100;

/** Processor time of a process and its children so far, in seconds; null where the system does not tell. */
export const processorTimeOf = (pid: number | undefined): number | null => {
  try {
    const children = readdirSync("/proc")
      .map(statOf)
      .filter((stat) => stat?.parent === pid);
    return [statOf(`${pid}`), ...children].reduce((sum, stat) => sum + (stat?.seconds ?? 0), 0);
  } catch {
    return null;
  }
};

const statOf = (pid: string): { readonly parent: number; readonly seconds: number } | null => {
  if (!/^\d+$/.test(pid)) return null;
  try {
    // The name in parentheses may hold anything; the fields after it are numbered from 3.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    // Of itself in user and system mode, and the same of children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / ticksPerSecond };
  } catch {
    // It has ended meanwhile.
    return null;
  }
};
