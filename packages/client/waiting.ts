/** Waits for a promise. Rejects with the signal's reason if the signal aborts first. */
export const abortable = <A>(step: Promise<A>, signal: AbortSignal | undefined): Promise<A> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason as Error);
    const end = () => signal?.removeEventListener("abort", stop);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted === true) stop();
    step.finally(end).then(resolve).catch(reject);
  });

/** Waits some milliseconds. Rejects with the signal's reason when the signal aborts. */
export const sleep = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> => {
  let timer: ReturnType<typeof setTimeout>;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  return abortable(end, signal).finally(() => clearTimeout(timer));
};

/** The abort signal of a connection, with a timeout for each step. */
export interface Lifeline {
  /** Aborts with the caller's signal, when a step takes too long, and when the lifeline is cut. */
  readonly signal: AbortSignal;
  /** Waits for a step. Rejects with the reason of `signal` if that aborts first. */
  readonly within: <A>(milliseconds: number, step: Promise<A>) => Promise<A>;
  /** Aborts everything that uses the signal. */
  readonly cut: () => void;
}

/** Makes a lifeline that aborts with the caller's signal. */
export const makeLifeline = (caller: AbortSignal | undefined): Lifeline => {
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
  // Prevents an unhandled rejection if the signal aborts between two steps.
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
