/**
 * Clients that spend a limited key on all nodes at once, and count what they were let.
 */
import { Effect } from "effect";
import type { KeyOptions } from "../support/world.ts";
import { type Attempt, attempt } from "./attempt.ts";
import type { Fault } from "./faults.ts";
import type { Node } from "./service.ts";

/** A key that is worth so many requests, in a window that outlasts every run. */
export interface LimitedKey {
  readonly key: string;
  readonly limit: number;
  readonly window: keyof typeof limitsOf;
}

/** The limits of such a key. */
export const limitsOf = {
  hour: (limit: number) => ({ perWindow: limit, windowMs: 3_600_000, daily: 0 }),
  day: (limit: number) => ({ perWindow: 0, daily: limit }),
} satisfies Record<string, (limit: number) => KeyOptions["limits"]>;

/** What was spent of one key. */
export interface Spending extends Pick<LimitedKey, "limit" | "window"> {
  readonly attempts: ReadonlyArray<Attempt>;
  readonly admitted: number;
  /** Requests of which it is not known whether they were admitted. */
  readonly uncertain: number;
}

/** A key that is being spent. */
export interface Spender {
  /** Asks at once, until little is left. */
  readonly spendMost: Effect.Effect<void>;
  /** Asks slowly while it is told to go on, then at once until every node has refused, and tells what came of it all. */
  readonly spendRest: (isGoingOn: () => boolean) => Effect.Effect<Spending>;
}

const line = "GET /v2/chat?chatId=100020";
/** More than any limit here, so that one that never refuses is found and not waited for. */
const mostAttempts = 5_000;
/** How much is left for what is asked slowly. */
const rest = 40;
/** Between two of the slow requests to a node, in milliseconds. */
const pause = 1_000;

/** Spends a key on every node. */
export const makeSpender = (nodes: ReadonlyArray<Node>, { key, limit, window }: LimitedKey): Spender => {
  const attempts: Array<Attempt> = [];
  const ask = Effect.fnUntraced(function* (node: Node) {
    const made = node.isUp() ? judged(yield* attempt(node, line, { key })) : null;
    if (made !== null) attempts.push(made);
    return made;
  });
  const onEvery = (spendOn: (node: Node) => Effect.Effect<void>) =>
    Effect.forEach(nodes, spendOn, { concurrency: "unbounded", discard: true });

  const spendMost = onEvery((node) =>
    Effect.whileLoop({ while: () => attempts.length < limit - rest, body: () => ask(node), step: () => {} }),
  );
  const spendRest = Effect.fnUntraced(function* (isGoingOn: () => boolean) {
    yield* onEvery(
      Effect.fnUntraced(function* (node) {
        while (attempts.length < mostAttempts) {
          const goesOn = isGoingOn();
          const made = yield* ask(node);
          if (!goesOn && made !== null && isRefused(made)) return;
          yield* Effect.sleep(goesOn ? pause : 1);
        }
      }),
    );
    const spending: Spending = {
      limit,
      window,
      attempts,
      admitted: attempts.filter(isAdmitted).length,
      uncertain: attempts.filter(isUncertain).length,
    };
    return spending;
  });
  return { spendMost, spendRest };
};

const statusOf = ({ outcome }: Attempt): number | null =>
  outcome.kind === "answered" ? outcome.answer.status : null;

const isRefused = (made: Attempt): boolean => statusOf(made) === 429;

/** Nobody is linked to the chat user that is asked for. */
const isAdmitted = (made: Attempt): boolean => statusOf(made) === 404;

const isUncertain = ({ outcome: { kind } }: Attempt): boolean => kind !== "answered" && kind !== "not sent";

const judged = (made: Attempt): Attempt => {
  const { outcome } = made;
  if (outcome.kind !== "answered" || isAdmitted(made)) return made;
  const { status, headers, text } = outcome.answer;
  if (status === 429 && Number(headers["retry-after"]) >= 1) return made;
  return { ...made, outcome: { kind: "wrong", problem: `answered ${status} ${text}` } };
};

/** How long it takes until a count is saved, and the time of the database for it, in milliseconds. */
export const lag = 5_000 + 1_000;
/** What a node is asked slowly within a lag: no fault makes it more. */
const askedWithinLag = Math.ceil(lag / pause) + 1;

/**
 * The most that may be admitted around a fault, as docs/consistency.md says under "Limits". Of a day it holds for a fault
 * that comes a lag after what was spent at once, if it makes Redis lose its data.
 */
export const mostAdmitted = (
  { limit, window, attempts }: Spending,
  { counts, victims }: Fault,
  nodes: ReadonlyArray<Node>,
): number => {
  if (counts === "in reach") return limit;
  const lost = counts === "lost" ? 1 : 0;
  if (window === "hour") return limit + victims.length * Math.ceil(limit / nodes.length) + lost * limit;
  const unsaved = nodes
    .map(({ name }) => mostWithinLag(attempts.filter(({ node }) => node === name)))
    .reduce((sum, each) => sum + each, 0);
  const share = Math.ceil((rest + unsaved) / nodes.length);
  return limit + victims.length * share + lost * unsaved;
};

const mostWithinLag = (attempts: ReadonlyArray<Attempt>): number => {
  const times = attempts.filter(isAdmitted).map(({ ended }) => ended);
  const counts = times.map((from) => times.filter((at) => at >= from && at < from + lag).length);
  return Math.min(askedWithinLag, Math.max(0, ...counts));
};
