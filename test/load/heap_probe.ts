/**
 * Loaded into a server before it starts (`node --import`): on SIGUSR2 it prints, in one line on standard error, what the
 * process holds once its garbage is collected.
 */
import { writeSync } from "node:fs";
import { queryObjects, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Effect, Fiber } from "effect";

export interface Held {
  /** In bytes. */
  readonly heap: number;
  readonly fibers: number;
  /** Open handles and running timers by kind. */
  readonly handles: Readonly<Record<string, number>>;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const sample = Effect.runFork(Effect.never);
const FiberClass = sample.constructor;
Effect.runFork(Fiber.interrupt(sample));

process.on("SIGUSR2", () => {
  const fibers = queryObjects(FiberClass, { format: "count" });
  collectGarbage();
  const handles: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  const held: Held = { heap: process.memoryUsage().heapUsed, fibers, handles };
  writeSync(2, `held ${JSON.stringify(held)}\n`);
});
