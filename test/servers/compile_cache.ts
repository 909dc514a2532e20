import { join } from "node:path";

/**
 * The variable with which a process of Node keeps the compiled sources for the next one. Compilation takes half of the
 * time of a start. Tests that measure a program start it without.
 */
export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../node_modules/.cache/vitest"),
};
