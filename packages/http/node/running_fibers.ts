import type { Fiber } from "effect";

/**
 * Stores the running fibers in an array. A `Set` or the finalizers of a scope would keep finished fibers and their
 * responses in memory until the next full garbage collection.
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
