/** A worker process. Each message tells it which schedules to run next. */
import type { Share } from "./cores.ts";
import { search } from "./search.ts";

process.on("message", ({ from, schedules }: Share) => {
  process.send?.(search(from, schedules));
  // Collecting garbage after a share is cheap, because finished schedules leave only garbage. During a schedule, the
  // collector would repeatedly copy the objects that the schedule still uses.
  globalThis.gc?.();
});
