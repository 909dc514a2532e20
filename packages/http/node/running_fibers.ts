import type { Fiber } from "effect";

/**
 * The running fibers, in an array. A Set or the finalizers of a scope would replace their internal table as they
 * change; the old tables would keep each fiber and its response alive until the next full garbage collection.
 */
export class RunningFibers {
  readonly #fibers: Array<Fiber.Fiber<unknown> | undefined> = [];
  readonly #free: Array<number> = [];

  add(fiber: Fiber.Fiber<unknown>): void {
    const place = this.#free.pop() ?? this.#fibers.length;
    this.#fibers[place] = fiber;
    fiber.addObserver(() => {
      this.#fibers[place] = undefined;
      this.#free.push(place);
    });
  }

  *[Symbol.iterator](): Iterator<Fiber.Fiber<unknown>> {
    for (const fiber of this.#fibers) if (fiber !== undefined) yield fiber;
  }
}
