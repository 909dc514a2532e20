/** Where a profiled process spent its time. */
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";

interface CpuProfile {
  readonly nodes: ReadonlyArray<{
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }>;
  readonly samples: ReadonlyArray<number>;
  /** In microseconds, by the clock of `process.hrtime`. */
  readonly startTime: number;
  /** From the sample before, in microseconds. */
  readonly timeDeltas: ReadonlyArray<number>;
}

/**
 * The functions that took the most time themselves, as lines of text, from the one profile in a folder.
 *
 * @param since leaves out what was before, in microseconds by the clock of `process.hrtime`
 */
export const hottestFunctions = async (
  folder: string,
  count: number,
  since: number,
): Promise<ReadonlyArray<string>> => {
  const file = (await readdir(folder)).find((name) => name.endsWith(".cpuprofile"));
  if (file === undefined) throw new Error(`Cannot read the profile: folder "${folder}" has none`);
  const profile = JSON.parse(await readFile(join(folder, file), "utf8")) as CpuProfile;
  const labels = new Map(profile.nodes.map(({ id, callFrame }) => [id, labelOf(callFrame)]));
  const times = new Map<string, number>();
  let at = profile.startTime;
  let total = 0;
  for (const [index, id] of profile.samples.entries()) {
    const time = profile.timeDeltas[index] ?? 0;
    at += time;
    const label = labels.get(id) ?? "(unknown)";
    if (at < since || label === "(idle)") continue;
    total += time;
    times.set(label, (times.get(label) ?? 0) + time);
  }
  return [...times]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, count)
    .map(([label, own]) => `${((own / total) * 100).toFixed(1).padStart(5)} %  ${label}`);
};

const labelOf = ({ functionName, url, lineNumber }: CpuProfile["nodes"][number]["callFrame"]): string => {
  const name = functionName === "" ? "(anonymous)" : functionName;
  return url === "" ? name : `${name}  ${basename(url)}:${lineNumber + 1}`;
};
