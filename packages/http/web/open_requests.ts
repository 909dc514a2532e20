/** Tracks the requests in flight, until the end of their bodies. */
import { Latch } from "effect";

/** Counts requests, so that a handler closes after the last one. */
export class OpenRequests {
  #count = 0;
  readonly #none = Latch.makeUnsafe(true);

  /** Waits for the end of all requests. */
  readonly ended = this.#none.await;

  /** Counts a request until the returned function is called. */
  begin(): () => void {
    if (this.#count++ === 0) this.#none.closeUnsafe();
    return () => {
      if (--this.#count === 0) this.#none.openUnsafe();
    };
  }
}
