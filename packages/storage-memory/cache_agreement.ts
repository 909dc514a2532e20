/** What is agreed on about a cache, in memory. */
import { CacheAgreement, type Millis, type Pid } from "@accountlink/core";
import { Clock, Effect, Layer } from "effect";

/** An agreement of whoever shares this layer. A write is over as soon as it began. */
export const layer: Layer.Layer<CacheAgreement> = Layer.sync(CacheAgreement, () => {
  let run: string | null = null;
  let [adoptedAt, opensAt] = [0, 0];
  const closures = new Map<Pid, Millis>();
  return CacheAgreement.of({
    longestWrite: { ofRecord: 0, ofScope: 0 },

    read: at((now) => {
      for (const [pid, endsAt] of closures) if (endsAt <= now) closures.delete(pid);
      return {
        run,
        adoptedMsAgo: now - adoptedAt,
        isOpen: run !== null && opensAt <= now,
        closed: new Set(closures.keys()),
      };
    }),

    adopt: (adopted, closedMs) =>
      at((now) => {
        if (adopted === run) return false;
        run = adopted;
        adoptedAt = now;
        opensAt = Math.max(opensAt, now + closedMs);
        return true;
      }),

    close: (pid, closedMs) =>
      at((now) => {
        closures.set(pid, Math.max(closures.get(pid) ?? 0, now + closedMs));
      }),
  });
});

const at = <A>(use: (now: Millis) => A): Effect.Effect<A> => Effect.map(Clock.currentTimeMillis, use);
