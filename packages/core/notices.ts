import { Effect } from "effect";

/**
 * A notice for an open read: something may have changed, or the read must end because a later read replaced it, its key
 * is no longer active, or the node is stopping.
 */
export type Notice = "changed" | "end";

/** Holds at most one notice, so that a burst of changes causes one read. */
export class Notices {
  #notice: Notice | null = null;
  #resume: ((notice: Effect.Effect<Notice>) => void) | null = null;

  /** Waits for the next notice. Allows one caller at a time. */
  readonly next: Effect.Effect<Notice> = Effect.callback((resume) => {
    this.#resume = resume;
    this.#deliver();
    return Effect.sync(() => {
      this.#resume = null;
    });
  });

  get isAwaited(): boolean {
    return this.#resume !== null;
  }

  wake(): void {
    this.#notice ??= "changed";
    this.#deliver();
  }

  end(): void {
    this.#notice = "end";
    this.#deliver();
  }

  #deliver(): void {
    if (this.#notice === null || this.#resume === null) return;
    const [notice, resume] = [this.#notice, this.#resume];
    this.#resume = null;
    if (notice === "changed") this.#notice = null;
    resume(Effect.succeed(notice));
  }
}
