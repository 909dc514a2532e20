/**
 * Paces requests by the headers `RateLimit` and `RateLimit-Policy` of responses: a request beyond the rate limit waits
 * for the next window instead of being refused.
 */
import { abortable, sleep } from "./waiting.ts";

/** Sends requests in the order of the calls, each as soon as the rate limit allows. */
export type InTurn = <A extends { readonly response: Response }>(
  send: () => Promise<A>,
  signal: AbortSignal | undefined,
) => Promise<A>;

/**
 * The most milliseconds that a request waits for the next window. If the next window opens later, such as at midnight,
 * the request is sent at once, and the service refuses it.
 */
const longestWait = 30_000;

/**
 * How many milliseconds a request waits at most for the response to an earlier request. That response says how many
 * requests the window still allows.
 */
const longestHold = 2_000;

/**
 * Makes the function that paces the requests of a client. The function sends one request alone at first, and then as
 * many in parallel as the rate limit allows.
 */
export const makePace = (): InTurn => {
  let quota = 1;
  let left = 1;
  let opensAt = 0;
  let inFlight = 0;
  let queue = Promise.resolve();

  const untilOpen = () => opensAt - performance.now();
  const isClosed = () => left < 1 && untilOpen() > 0 && untilOpen() <= longestWait;

  const turn = async (signal: AbortSignal | undefined) => {
    await abortable(queue, signal);
    // Check again after waiting: a timer may fire early, and a response may have moved the beginning of the next
    // window.
    while (isClosed()) await sleep(untilOpen(), signal);
    if (untilOpen() <= 0) left = quota;
    left--;
  };

  const learn = (headers: Headers | undefined) => {
    const [, name, rest, seconds] = /"(\w+)";r=(\d+);t=(\d+)/.exec(headers?.get("ratelimit") ?? "") ?? [];
    if (name === undefined) return;
    const policy = new RegExp(`"${name}";q=(\\d+)`).exec(headers?.get("ratelimit-policy") ?? "");
    quota = Number(policy?.[1] ?? 1);
    left = Number(rest) - inFlight;
    opensAt = performance.now() + Number(seconds) * 1_000;
  };

  return async (send, signal) => {
    const before = queue;
    const mine = turn(signal);
    let leave!: () => void;
    queue = new Promise((resolve) => {
      leave = resolve;
    });
    await mine.catch((error: unknown) => {
      void before.then(leave);
      throw error;
    });
    const letNextGo = () => {
      if (opensAt === 0) left = quota = Infinity;
      leave();
    };
    if (left > 0) leave();
    const hold = setTimeout(letNextGo, longestHold);
    inFlight++;
    let headers: Headers | undefined;
    try {
      const received = await send();
      ({ headers } = received.response);
      return received;
    } finally {
      clearTimeout(hold);
      inFlight--;
      learn(headers);
      letNextGo();
    }
  };
};
