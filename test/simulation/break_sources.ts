/**
 * Loaded before a simulation: puts a mistake into a source of the product as it is imported. Its number is in the environment.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { mistakes, mistakeVariable } from "./mistakes.ts";

const mistake = mistakes[Number(process.env[mistakeVariable])];
if (mistake === undefined) throw new Error(`Cannot make a mistake: ${mistakeVariable} has no number of one`);
const { file, right, wrong } = mistake;

registerHooks({
  load: (url, context, nextLoad) => {
    if (!url.endsWith(`/${file}`) || url.includes("/node_modules/")) return nextLoad(url, context);
    const source = readFileSync(fileURLToPath(url), "utf8");
    if (source.split(right).length !== 2) {
      throw new Error(`Cannot make the mistake: ${file} has not exactly one "${right}"`);
    }
    return { format: "module-typescript", source: source.replace(right, () => wrong), shortCircuit: true };
  },
});
