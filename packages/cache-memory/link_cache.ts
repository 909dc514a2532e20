/** A cache of link records in memory. */
import { LinkCache, type Millis } from "@accountlink/core";
import { Clock, Effect, Layer } from "effect";
import { LinkEntries } from "./internal/link_entries.ts";

/** A cache of one process, to compare others with: a store in memory is no slower. It lasts as long as the process. */
export const layer: Layer.Layer<LinkCache> = Layer.sync(LinkCache, () => {
  const entries = new LinkEntries();
  return LinkCache.of({
    look: at((time) => ({ run: entries.run, time })),
    read: (lease, name, tokenMs) => at((now) => entries.read(lease, name, tokenMs, now)),
    put: (lease, name, entry) => at((now) => entries.put(lease, name, entry, now)),
    fence: (lease, fence, fenceMs) => at((now) => entries.fence(lease, fence, fenceMs, now)),
    lift: (fence) => at((now) => entries.lift(fence, now)),
  });
});

const at = <A>(use: (now: Millis) => A): Effect.Effect<A> => Effect.map(Clock.currentTimeMillis, use);
