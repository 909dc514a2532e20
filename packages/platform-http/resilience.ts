/**
 * How patiently a platform is asked. Every number can be set; the defaults keep the worst answer under four seconds.
 */
import { Duration } from "effect";

/** The settings of a client of one platform. */
export interface Resilience {
  /** How long one attempt may take, with its body. */
  readonly attemptTimeout: Duration.Duration;
  /** How long a request may take in all: its waits for its turn and a place, its attempts, and the pauses between. */
  readonly deadline: Duration.Duration;
  /** How often a request that is safe to repeat is tried again. */
  readonly retries: number;
  /** The pause before the first retry. Each further pause doubles, and each is cut by up to a half at random. */
  readonly backoff: Duration.Duration;
  /** How many attempts must fail in a row for the circuit to open. */
  readonly failuresToOpen: number;
  /** How long an open circuit refuses, until one request may probe. */
  readonly openFor: Duration.Duration;
  /** How many attempts may be under way at once. Others wait for a place. */
  readonly concurrency: number;
  /** The largest body that is read, in bytes. */
  readonly maxBodyBytes: number;
}

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
