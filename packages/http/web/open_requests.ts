import { Latch } from "effect";

/** Counts the requests whose responses have not ended, so that a handler can wait for them before it closes. */
export class OpenRequests {
  #count = 0;
  readonly #none = Latch.makeUnsafe(true);

  readonly ended = this.#none.await;

  /** Counts a request until the returned function is called. */
  begin(): () => void {
    if (this.#count++ === 0) this.#none.closeUnsafe();
    return () => {
      if (--this.#count === 0) this.#none.openUnsafe();
    };
  }
}
