/**
 * The program `accountlink`, on a Node that runs it.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Half of the time until a command begins is the compiler's. Where the folder cannot be written, it just takes longer.
enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/accountlink", import.meta.url)));

await import("./command_line.ts");
