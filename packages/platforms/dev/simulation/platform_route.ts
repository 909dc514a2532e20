/** The routes of the simulated platforms, and what tests add to them. */
import { Context, Effect } from "effect";
import { HttpRouter, type HttpServerResponse } from "effect/http";
import type { PlatformState } from "./platform_state.ts";

type Response = HttpServerResponse.HttpServerResponse;

export type Platform = "chat" | "game";

interface RouteName {
  readonly platform: Platform;
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
  readonly path: string;
}

/** Stands between the simulated platforms and their clients. */
export interface PlatformControl {
  /** Returns the response that a client gets. `answer` is the right one. */
  readonly around: <R>(
    route: RouteName,
    answer: Effect.Effect<Response, never, R>,
  ) => Effect.Effect<Response, never, R | HttpRouter.RouteContext>;
  /** Routes that the platforms have besides. */
  readonly routes: ReadonlyArray<HttpRouter.Route>;
}

/** Makes the control of a dev platform. Tests inject faults, count requests and change members with one of their own. */
export const PlatformControl = Context.Reference<(platforms: PlatformState) => PlatformControl>(
  "@accountlink/platforms/dev/PlatformControl",
  { defaultValue: () => () => ({ around: (_, answer) => answer, routes: [] }) },
);

export interface Simulation {
  readonly platforms: PlatformState;
  readonly around: PlatformControl["around"];
}

/** @param handler fails with the response to an invalid request */
export const platformRoute = <R>(
  { around }: Simulation,
  method: RouteName["method"],
  path: `/${Platform}/${string}`,
  handler: Effect.Effect<Response, Response, R>,
) => {
  const platform = path.startsWith("/chat/") ? "chat" : "game";
  const answer = handler.pipe(Effect.catch(Effect.succeed));
  return HttpRouter.route(method, path, around({ platform, method, path }, answer));
};
