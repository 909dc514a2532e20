/**
 * Retries calls after temporary failures, no sooner than the service allows.
 *
 * Every route can be repeated: reads change nothing, and a write carries an `Idempotency-Key`.
 */
import { AccountLinkError } from "./errors.ts";
import { sleep } from "./waiting.ts";

/** Proxies have statuses of their own, such as 520 to 524 of Cloudflare. */
const isTemporary = (status: number): boolean => status === 429 || status >= 502;

/** Seconds to wait before a retry; null if a retry cannot help. */
const retryAfterOf = (error: AccountLinkError): number | null => {
  if (error.code === "NETWORK_ERROR" || error.code === "TIMEOUT") return 0;
  // The service is still processing the previous attempt of this write.
  if (error.code === "CONFLICT" && error.details?.reason === "idempotency_key_in_use") return 1;
  return isTemporary(error.status ?? 0) ? (error.retryAfter ?? 0) : null;
};

const firstBackoff = 250;
const longestBackoff = 5_000;

/** Returns milliseconds with jitter, so that clients that were refused together do not retry together. */
const backoff = (attempt: number): number =>
  Math.min(firstBackoff * 2 ** attempt, longestBackoff) * (0.5 + Math.random() / 2);

/**
 * Runs the attempt until it succeeds or fails permanently.
 *
 * @param patience how long after the first failed attempt another attempt may begin, in milliseconds
 */
export const retrying = async <A>(
  attempt: () => Promise<A>,
  patience: number,
  signal: AbortSignal | undefined,
): Promise<A> => {
  let end: number | undefined;
  for (let attempts = 0; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      end ??= performance.now() + patience;
      const retryAfter = error instanceof AccountLinkError ? retryAfterOf(error) : null;
      if (retryAfter === null) throw error;
      const wait = retryAfter * 1_000 + backoff(attempts);
      if (performance.now() + wait > end) throw error;
      await sleep(wait, signal);
    }
  }
};
