/** Where a profiled process spent its time. */
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";

interface CpuProfile {
  readonly nodes: ReadonlyArray<{
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }>;
  readonly samples: ReadonlyArray<number>;
}

/** The functions that took the most time themselves, as lines of text, from the one profile in a folder. */
export const hottestFunctions = async (folder: string, count: number): Promise<ReadonlyArray<string>> => {
  const file = (await readdir(folder)).find((name) => name.endsWith(".cpuprofile"));
  if (file === undefined) throw new Error(`Cannot read the profile: folder "${folder}" has none`);
  const { nodes, samples } = JSON.parse(await readFile(join(folder, file), "utf8")) as CpuProfile;
  const labels = new Map(nodes.map(({ id, callFrame }) => [id, labelOf(callFrame)]));
  const hits = new Map<string, number>();
  for (const id of samples) {
    const label = labels.get(id) ?? "(unknown)";
    hits.set(label, (hits.get(label) ?? 0) + 1);
  }
  const idle = hits.get("(idle)") ?? 0;
  hits.delete("(idle)");
  return [...hits]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, count)
    .map(([label, own]) => `${((own / (samples.length - idle)) * 100).toFixed(1).padStart(5)} %  ${label}`);
};

const labelOf = ({ functionName, url, lineNumber }: CpuProfile["nodes"][number]["callFrame"]): string => {
  const name = functionName === "" ? "(anonymous)" : functionName;
  return url === "" ? name : `${name}  ${basename(url)}:${lineNumber + 1}`;
};
