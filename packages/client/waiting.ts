/** Waits for a promise. Rejects with the signal's reason if the signal aborts first. */
export const abortable = <A>(step: Promise<A>, signal: AbortSignal | undefined): Promise<A> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason as Error);
    const end = () => signal?.removeEventListener("abort", stop);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted === true) stop();
    step.finally(end).then(resolve).catch(reject);
  });

/** The most milliseconds of a timer: with more, such as Infinity, it ends at once. */
const longestTimer = 2 ** 31 - 1;

const startTimer = (end: () => void, milliseconds: number) =>
  setTimeout(end, Math.min(milliseconds, longestTimer));

/** Waits some milliseconds. Rejects with the signal's reason when the signal aborts. */
export const sleep = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> => {
  let timer: ReturnType<typeof setTimeout>;
  const end = new Promise<void>((resolve) => {
    timer = startTimer(resolve, milliseconds);
  });
  return abortable(end, signal).finally(() => clearTimeout(timer));
};

/** Controls one connection: an abort signal, and a timeout for each step, such as the next read. */
export interface Lifeline {
  /** Aborts when the caller's signal aborts, when a step of `within` takes too long, or when `cut` is called. */
  readonly signal: AbortSignal;
  /** Waits for a step. If it takes longer than `milliseconds`, aborts `signal`. Rejects when `signal` aborts. */
  readonly within: <A>(milliseconds: number, step: Promise<A>) => Promise<A>;
  /** Aborts `signal`, and with it everything that uses the signal. */
  readonly cut: () => void;
}

/** Makes a `Lifeline` whose signal aborts when the caller's signal aborts. */
export const makeLifeline = (caller: AbortSignal | undefined): Lifeline => {
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
  // The signal may abort while no call of `within` waits for `aborted`. In that case, this handler prevents an
  // unhandled rejection.
  aborted.catch(() => {});
  const follow = () => controller.abort(caller?.reason);
  caller?.addEventListener("abort", follow);
  if (caller?.aborted === true) follow();
  return {
    signal,
    within: async (milliseconds, step) => {
      const timer = startTimer(
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
