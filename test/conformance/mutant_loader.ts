/** Loads storage-memory with a mistake: as another module for each, beside the right one. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { StoragePorts } from "@accountlink/core";
import type { Layer } from "effect";
import { type Mutant, mutants } from "./mutants/mod.ts";

const folder = `${pathToFileURL(resolve(import.meta.dirname, "../../packages/storage-memory")).href}/`;

const mutantOf = (url: string | undefined): string | null =>
  url?.startsWith(folder) === true ? new URL(url).searchParams.get("mutant") : null;

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context);
    const mutant = mutantOf(context.parentURL);
    const isSame = mutant === null || !resolved.url.startsWith(folder) || resolved.url.includes("?");
    return isSame ? resolved : { ...resolved, url: `${resolved.url}?mutant=${mutant}` };
  },
  load: (url, context, next) => {
    const mutant = mutants[Number(mutantOf(url) ?? "-1")];
    if (mutant === undefined) return next(url, context);
    const path = fileURLToPath(url);
    const source = readFileSync(path, "utf8");
    const isIts = path === fileURLToPath(folder + mutant.file);
    return {
      format: "module-typescript",
      source: isIts ? mutated(source, mutant) : source,
      shortCircuit: true,
    };
  },
});

const mutated = (source: string, { mistake, file, from, to }: Mutant): string => {
  const parts = source.split(from);
  if (parts.length !== 2) {
    throw new Error(
      `Cannot make the mistake "${mistake}": its text is ${parts.length - 1} times in "${file}", expected once`,
    );
  }
  return parts.join(to);
};

/** The storage ports with the mistake of a mutant. */
export const layerOf = async (mutant: Mutant): Promise<Layer.Layer<StoragePorts>> => {
  const { layer } = (await import(`${folder}storage_memory.ts?mutant=${mutants.indexOf(mutant)}`)) as {
    readonly layer: Layer.Layer<StoragePorts>;
  };
  return layer;
};
