/** A worker process. Each message tells it which schedules to run next. */
import type { Share } from "./cores.ts";
import { search } from "./search.ts";

process.on("message", ({ from, schedules }: Share) => {
  process.send?.(search(from, schedules));
  // When a schedule ends, its whole world is garbage. Collecting garbage now is cheaper than during a schedule, when
  // the collector would copy the live parts of a world repeatedly.
  globalThis.gc?.();
});
