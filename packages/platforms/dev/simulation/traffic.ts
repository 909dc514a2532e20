/** Counts of requests to the simulated platforms. */
import { Effect } from "effect";

export interface TrafficReport {
  /** Requests by route, such as `GET /chat/api/users/:chatId`. */
  readonly routes: Readonly<Record<string, number>>;
  readonly peak: number;
  /** Counts of successful changes by method, member and changed part, such as `PUT 100001 roles/1`. */
  readonly changes: Readonly<Record<string, number>>;
}

export type Traffic = ReturnType<typeof makeTraffic>;

export const makeTraffic = () => {
  const routes = new Map<string, number>();
  const changes = new Map<string, number>();
  let inFlight = 0;
  let peak = 0;

  return {
    counted:
      (route: string) =>
      <A, E, R>(handler: Effect.Effect<A, E, R>) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            count(routes, route);
            peak = Math.max(peak, ++inFlight);
          }),
          () => handler,
          () => Effect.sync(() => inFlight--),
        ),
    countChange: (change: string) => count(changes, change),
    report: (): TrafficReport => ({
      routes: Object.fromEntries(routes),
      peak,
      changes: Object.fromEntries(changes),
    }),
    reset: () => {
      routes.clear();
      changes.clear();
      peak = inFlight;
    },
  };
};

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
