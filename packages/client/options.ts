/** What a client, a call and a write can be told, and what comes with an answer. */
import type { Meta, RouteId } from "./contract.ts";

/** What holds for one call. What it leaves out is as the client was created with. */
export interface CallOptions {
  /** Ends the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until an attempt fails with `TIMEOUT`, 15,000 by default. A long poll has its `wait` in addition. */
  readonly timeout?: number | undefined;
  /**
   * Milliseconds from its first failed attempt within which a call may try again, 30,000 by default; 0 for one
   * attempt. It fails at once when the service asks it to wait for longer.
   */
  readonly retryFor?: number | undefined;
  /** Hears of every answer, also of those after which the call tries again. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined;
}

/** What holds for one write. */
export interface WriteOptions extends CallOptions {
  /**
   * The name of this write, 1 to 255 visible ASCII characters: however often it is sent within 24 hours, it is done
   * once. Random by default, so that it covers the attempts of one call; give your own to repeat a call after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

/** What a client works with. */
export interface ClientOptions extends Omit<CallOptions, "signal"> {
  /** Where the service is, such as `https://links.example`. In a browser also a path of the page's own server. */
  readonly url: string;
  /** The API key. Leave it out where a server of yours adds it: no page may have a key. */
  readonly key?: string | undefined;
  /** Sends the requests, in place of the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** What comes with the data of an answer. */
export interface Answer {
  readonly route: RouteId;
  readonly status: number;
  /** Request id, limits and tier; null for a stream, and where the answer is not the service's. */
  readonly meta: Meta | null;
  /** Among them the limits of the day, `X-Key-Expires` and `Idempotent-Replayed`. */
  readonly headers: Headers;
}
