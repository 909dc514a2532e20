/** Options of a client, a call and a write, and the metadata of a response. */
import type { Meta, RouteId } from "./contract.ts";

/** Options of one call. Each except `signal` defaults to the client's option of the same name. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until an attempt fails with `TIMEOUT`, 15,000 by default. The `wait` of a long poll is added. */
  readonly timeout?: number | undefined;
  /**
   * Milliseconds after the first failed attempt during which the call may retry, 30,000 by default; 0 disables retries.
   * The call fails at once when the service asks it to wait longer.
   */
  readonly retryFor?: number | undefined;
  /** Called with every response, including those after which the call retries. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * The name of this write, 1 to 255 visible ASCII characters. However often the write is sent within 24 hours, it is
   * done once. The default is random and covers the attempts of one call; pass your own to repeat a call after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The service's URL, the API key, and defaults for the options of each call. */
export interface ClientOptions extends Omit<CallOptions, "signal"> {
  /**
   * The URL of the service, such as `https://links.example`. In a browser, a path on the page's own server works too.
   */
  readonly url: string | URL;
  /** The API key. Leave it out if a server of yours adds it: a web page must never contain a key. */
  readonly key?: string | undefined;
  /** Sends the requests, instead of the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** A response, as `onAnswer` receives it. */
export interface Answer {
  readonly route: RouteId;
  readonly status: number;
  /** Request ID, limits and tier; null for a stream, and if the response does not come from the service. */
  readonly meta: Meta | null;
  /** The headers include the daily limits, `X-Key-Expires` and `Idempotent-Replayed`. */
  readonly headers: Headers;
}
