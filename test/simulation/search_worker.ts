/** A process that runs the schedules in each message. */
import type { Share } from "./cores.ts";
import { search } from "./search.ts";

process.on("message", ({ from, schedules }: Share) => {
  process.send?.(search(from, schedules));
  // When a schedule ends, its whole world is garbage. Collecting garbage now is cheaper than during a schedule, when
  // the collector would copy the live parts of a world repeatedly.
  globalThis.gc?.();
});
