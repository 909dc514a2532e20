/** A process that runs the schedules in each message. */
import type { Share } from "./cores.ts";
import { search } from "./search.ts";

process.on("message", ({ from, schedules }: Share) => {
  process.send?.(search(from, schedules));
  // When a schedule ends, its whole world is garbage. Collecting it now is cheaper than copying live parts
  // repeatedly.
  globalThis.gc?.();
});
