/**
 * What was asked of the played platforms.
 */
import { Effect } from "effect";

export interface TrafficReport {
  /** Requests by route, such as `GET /chat/api/users/:chatId`. */
  readonly routes: Readonly<Record<string, number>>;
  /** How many were under way at once, at most. */
  readonly peak: number;
}

export interface Traffic {
  /** Counts a request while it is answered. */
  readonly counted: (route: string) => <A, E, R>(answer: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;
  readonly show: () => TrafficReport;
  readonly reset: () => void;
}

export const makeTraffic = (): Traffic => {
  const routes = new Map<string, number>();
  let underway = 0;
  let peak = 0;

  return {
    counted: (route) => (answer) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          routes.set(route, (routes.get(route) ?? 0) + 1);
          peak = Math.max(peak, ++underway);
        }),
        () => answer,
        () => Effect.sync(() => underway--),
      ),
    show: () => ({ routes: Object.fromEntries(routes), peak }),
    reset: () => {
      routes.clear();
      peak = underway;
    },
  };
};
