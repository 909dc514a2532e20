import { Clock, Effect, type Scope } from "effect";
import { RateLimited } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { secondsUntil } from "../limits/request_limits.ts";
import type { Millis } from "../timestamp.ts";

/** The maximum number of long polls and streams of one key on a node. */
const maxReaders = 16;

/**
 * The longest `Retry-After`, in milliseconds. If one of the waiting readers ends sooner, `Retry-After` is the time
 * until its end.
 */
const longestRetry = 30_000;

/** Limits how many readers of a key wait on this node. A reader counts until its scope closes. */
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
