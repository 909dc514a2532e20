/** A process that runs the schedules it is sent. */
import type { Share } from "./cores.ts";
import { search } from "./search.ts";

process.on("message", ({ from, schedules }: Share) => {
  process.send?.(search(from, schedules));
  // A world is garbage as a whole when its schedule ends. Cheaper than to copy what is left of it again and again.
  globalThis.gc?.();
});
