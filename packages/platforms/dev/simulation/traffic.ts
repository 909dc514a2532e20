/** Counts of requests to the simulated platforms. */
import { Effect } from "effect";

export interface TrafficReport {
  /** Requests by route, such as `GET /chat/api/users/:chatId`. */
  readonly routes: Readonly<Record<string, number>>;
  readonly peak: number;
}

export interface Traffic {
  readonly counted: (route: string) => <A, E, R>(handler: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;
  readonly report: () => TrafficReport;
  readonly reset: () => void;
}

export const makeTraffic = (): Traffic => {
  const routes = new Map<string, number>();
  let inFlight = 0;
  let peak = 0;

  return {
    counted: (route) => (handler) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          routes.set(route, (routes.get(route) ?? 0) + 1);
          peak = Math.max(peak, ++inFlight);
        }),
        () => handler,
        () => Effect.sync(() => inFlight--),
      ),
    report: () => ({ routes: Object.fromEntries(routes), peak }),
    reset: () => {
      routes.clear();
      peak = inFlight;
    },
  };
};
