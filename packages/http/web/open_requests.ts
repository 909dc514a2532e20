/**
 * The requests under way, up to the end of their bodies.
 */
import { Effect, Latch } from "effect";
import type { HttpApp } from "../pipeline/refused_request.ts";

/** Tracks requests, so that a handler closes after the last of them. */
export class OpenRequests {
  #count = 0;
  readonly #none = Latch.makeUnsafe(true);

  /** Waits for the end of all requests. */
  readonly ended = this.#none.await;

  /** Counts each request of an application until its scope closes, which is at the end of its body. */
  readonly track = (app: HttpApp): HttpApp =>
    Effect.andThen(
      Effect.acquireRelease(
        Effect.sync(() => {
          if (this.#count++ === 0) this.#none.closeUnsafe();
        }),
        () =>
          Effect.sync(() => {
            if (--this.#count === 0) this.#none.openUnsafe();
          }),
      ),
      app,
    );
}
