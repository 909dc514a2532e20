/** Requests to nodes that may fail, and their outcomes. */
import { Effect } from "effect";
import type { Answer, RequestOptions } from "../support/http.ts";
import type { Target } from "./service.ts";

export type Outcome =
  | { readonly kind: "answered"; readonly answer: Answer }
  /** The node answered 503 with `Retry-After`: the write may have happened, or may still happen. */
  | { readonly kind: "unavailable" }
  /** The connection broke because the node was killed, stopped, frozen or thawed; the write may have happened. */
  | { readonly kind: "broken" }
  /** The connection was refused. */
  | { readonly kind: "not sent" }
  /** The answer breaks a promise of the service. */
  | { readonly kind: "wrong"; readonly problem: string };

export interface Attempt {
  readonly node: string;
  readonly line: `${string} ${string}`;
  /** When the request was sent, by `performance.now()`. */
  readonly called: number;
  readonly ended: number;
  readonly outcome: Outcome;
}

/**
 * A node must answer within this time. The node's own deadlines are shorter, and a fault freezes a node for much less.
 */
const longestWait = "15 seconds";

export const attempt = Effect.fnUntraced(function* (
  node: Target,
  line: Attempt["line"],
  options: RequestOptions,
) {
  const called = performance.now();
  const disturbances = node.disturbances();
  const outcome = yield* Effect.tryPromise(() => node.send(line, options)).pipe(
    Effect.map(outcomeOf),
    Effect.catch(({ cause }) =>
      Effect.sync(() => brokenOutcome(cause, !node.isUp() || node.disturbances() !== disturbances)),
    ),
    Effect.timeoutOrElse({
      duration: longestWait,
      orElse: () => Effect.succeed<Outcome>({ kind: "wrong", problem: `no answer in ${longestWait}` }),
    }),
  );
  const done: Attempt = { node: node.name, line, called, ended: performance.now(), outcome };
  return done;
});

export const outcomeOf = (answer: Answer): Outcome => {
  if (answer.status < 500) return { kind: "answered", answer };
  const isKind = answer.status === 503 && Number(answer.headers["retry-after"]) >= 1;
  return isKind
    ? { kind: "unavailable" }
    : { kind: "wrong", problem: `answered ${answer.status} ${answer.text}` };
};

const brokenOutcome = (cause: unknown, isExpected: boolean): Outcome => {
  if (!isExpected) return { kind: "wrong", problem: `the connection broke: ${String(cause)}` };
  return { kind: (cause as NodeJS.ErrnoException).code === "ECONNREFUSED" ? "not sent" : "broken" };
};
