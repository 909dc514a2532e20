/**
 * Resolves the imports between sources in a test worker. Vitest tells its main process about each import that its own
 * hook resolves, 9,000 in each worker, although only a run that watches for changes needs this.
 */
import * as modules from "node:module";

const root = new URL("../", import.meta.url).href;

/** The URLs of the modules that packages of this repository export, by specifiers such as `@accountlink/core/keys`. */
const exported = new Map<string, string>();

let isRegistered = false;

/** Runs before each test file, and counts once in a worker. Bun has no such hooks. */
export const resolveQuickly = (): void => {
  if (isRegistered) return;
  isRegistered = true;
  modules.registerHooks?.({ resolve });
};

const resolve: modules.ResolveHookSync = (specifier, context, nextResolve) => {
  const { parentURL } = context;
  if (!parentURL?.startsWith(root)) return nextResolve(specifier, context);
  if (/^\.\.?\/.*\.ts$/.test(specifier))
    return { url: new URL(specifier, parentURL).href, shortCircuit: true };
  const known = exported.get(specifier);
  if (known !== undefined) return { url: known, shortCircuit: true };
  const resolved = nextResolve(specifier, context);
  if (specifier.startsWith("@accountlink/")) exported.set(specifier, resolved.url);
  return resolved;
};
