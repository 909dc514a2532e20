import { Clock, Effect, type Scope } from "effect";
import { RateLimited } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { secondsUntil } from "../limits/request_limits.ts";
import type { Millis } from "../timestamp.ts";

/** Waits and streams of a key that may be open on a node. */
const maxReaders = 16;

/** Where a reader that waits ends sooner, it is free sooner. In milliseconds. */
const longestRetry = 30_000;

/** Lets so many readers of a key wait on this node; each until its scope closes. */
export const makeReaderLimit = () => {
  const ends = new Map<KeyId, Set<{ readonly until: Millis }>>();
  return (keyId: KeyId | null, until: Millis): Effect.Effect<void, RateLimited, Scope.Scope> => {
    if (keyId === null) return Effect.void;
    const reader = { until };
    const enter = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const open = ends.get(keyId) ?? new Set();
      if (open.size >= maxReaders) {
        const resetsAt = Math.min(now + longestRetry, ...Array.from(open, (other) => other.until));
        const retryAfter = secondsUntil(resetsAt, now, longestRetry);
        return Effect.fail(
          new RateLimited({ bucket: "event_readers", limit: maxReaders, resetsAt, retryAfter }),
        );
      }
      ends.set(keyId, open.add(reader));
      return Effect.void;
    });
    const leave = Effect.sync(() => {
      const open = ends.get(keyId);
      open?.delete(reader);
      if (open?.size === 0) ends.delete(keyId);
    });
    return Effect.asVoid(Effect.acquireRelease(enter, () => leave));
  };
};
