/** Waiting, and giving up. */

/** Waits for a step. Rejects with the reason of the signal when that aborts first. */
export const abortable = <A>(step: Promise<A>, signal: AbortSignal | undefined): Promise<A> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason as Error);
    const end = () => signal?.removeEventListener("abort", stop);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted === true) stop();
    step.finally(end).then(resolve).catch(reject);
  });

/** Waits some milliseconds. Rejects with the reason of the signal when it aborts. */
export const sleep = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> => {
  let timer: ReturnType<typeof setTimeout>;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  return abortable(end, signal).finally(() => clearTimeout(timer));
};

/** A connection, and how long each step of it may take. */
export interface Lifeline {
  /** Aborts with the signal of the caller, with a step that takes too long, and when it is cut. */
  readonly signal: AbortSignal;
  /** Waits for a step. Rejects with the reason of `signal` when that aborts first. */
  readonly within: <A>(milliseconds: number, step: Promise<A>) => Promise<A>;
  /** Ends whatever uses the signal. */
  readonly cut: () => void;
}

/** Makes a lifeline that ends with the signal of the caller. */
export const makeLifeline = (caller: AbortSignal | undefined): Lifeline => {
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
  // It may abort between two steps.
  aborted.catch(() => {});
  const follow = () => controller.abort(caller?.reason);
  caller?.addEventListener("abort", follow);
  if (caller?.aborted === true) follow();
  return {
    signal,
    within: async (milliseconds, step) => {
      const timer = setTimeout(
        () => controller.abort(new DOMException("Too late", "TimeoutError")),
        milliseconds,
      );
      try {
        return await Promise.race([step, aborted]);
      } finally {
        clearTimeout(timer);
      }
    },
    cut: () => {
      caller?.removeEventListener("abort", follow);
      controller.abort();
    },
  };
};
