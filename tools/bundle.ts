/**
 * Bundles the server. `apps/server/main.ts` runs the bundle if the sources have not changed since it was made, otherwise
 * the sources. With the argument `alone`, the bundle also runs where there are no sources: it needs `apps/server` without
 * them, and no packages.
 */
import { join } from "node:path";
import { bundle } from "./make_bundle.ts";

const folder = join(import.meta.dirname, "../apps/server/dist");
await bundle("apps/server/commands/run_process.ts", folder, process.argv[2] === "alone");
