/** Finds the bundle made by `tools/bundle.ts`. Run as a program, it fails if no bundle can run. */
import { readFileSync, statSync } from "node:fs";

const root = `${import.meta.dirname}/../../..`;
const folder = `${import.meta.dirname}/../dist`;

/** The path of the bundle; null if there is none or a source changed since it was made. */
export const findBundle = () => {
  try {
    const { entry, sources } = JSON.parse(readFileSync(`${folder}/bundle.json`, "utf8"));
    const isCurrent = sources.every(([path, size, second]) => {
      const found = statSync(`${root}/${path}`, { throwIfNoEntry: false });
      return found !== undefined && found.size === size && Math.floor(found.mtimeMs / 1_000) === second;
    });
    return isCurrent ? `${folder}/${entry}` : null;
  } catch {
    return null;
  }
};

if (import.meta.main && findBundle() === null) process.exitCode = 1;
