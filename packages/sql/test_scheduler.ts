import { Scheduler } from "effect";

/** For tests: makes a fiber lose its turn once, before one of its operations. */
export class YieldsOnce extends Scheduler.MixedScheduler {
  #operationsBefore: number;

  constructor(operationsBefore: number) {
    super();
    this.#operationsBefore = operationsBefore;
  }

  override shouldYield(): boolean {
    return this.#operationsBefore-- === 0;
  }
}
