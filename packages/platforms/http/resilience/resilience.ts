/** Timeouts, retries and limits of requests to a platform. By default a request ends within 4 seconds. */
import { Duration } from "effect";

export interface Resilience {
  /** The timeout of one attempt, body included. */
  readonly attemptTimeout: Duration.Duration;
  /** The timeout of a request, including waits, attempts and pauses. */
  readonly deadline: Duration.Duration;
  /** The maximum number of retries of a request that is safe to repeat. */
  readonly retries: number;
  /**
   * The pause before the first retry. The pause doubles with each retry, and is shortened by a random part of up to
   * half.
   */
  readonly backoff: Duration.Duration;
  /** How many consecutive failures open the circuit. */
  readonly failuresToOpen: number;
  /** How long the circuit stays open before one request may probe the platform. */
  readonly openFor: Duration.Duration;
  /** The maximum number of concurrent attempts. Other attempts wait. */
  readonly concurrency: number;
  /** The maximum size of a response body, in bytes. */
  readonly maxBodyBytes: number;
}

/**
 * The default timeouts, retries and limits of an adapter's requests.
 *
 * @example
 * ```ts
 * import { defaultResilience } from "@accountlink/platforms/http";
 * import { Duration } from "effect";
 *
 * const patient = { ...defaultResilience, deadline: Duration.times(defaultResilience.deadline, 2) };
 * Duration.toSeconds(patient.deadline); // 8
 * ```
 */
export const defaultResilience: Resilience = {
  attemptTimeout: Duration.millis(1_500),
  deadline: Duration.seconds(4),
  retries: 2,
  backoff: Duration.millis(100),
  failuresToOpen: 5,
  openFor: Duration.seconds(2),
  concurrency: 32,
  maxBodyBytes: 1_048_576,
};
