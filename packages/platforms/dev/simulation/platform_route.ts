/** A route of a simulated platform that counts requests and applies faults. */
import { Effect, Stream } from "effect";
import { HttpRouter, HttpServerResponse } from "effect/http";
import type { Fault, Platform } from "../fault.ts";
import type { Faults } from "./faults.ts";
import type { PlatformState } from "./platform_state.ts";
import { refuse } from "./responses.ts";
import type { Traffic } from "./traffic.ts";

export interface Simulation {
  readonly platforms: PlatformState;
  readonly faults: Faults;
  readonly traffic: Traffic;
}

export interface PlatformRoute<R> {
  readonly platform: Platform;
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
  readonly path: `/${string}`;
  /**
   * Makes the response to a request. If the request is invalid, the handler fails with the error response. If a fault
   * replaces the response, the handler does not run.
   */
  readonly handler: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    HttpServerResponse.HttpServerResponse,
    R
  >;
}

export const platformRoute = <R>(
  { faults, traffic }: Simulation,
  { platform, method, path, handler }: PlatformRoute<R>,
) => {
  const answer = handler.pipe(Effect.catch(Effect.succeed));
  const faulty = Effect.suspend(() => {
    const fault = faults.take(platform, path);
    if (fault === null) return answer;
    return fault.mode === "slow" ? Effect.delay(answer, fault.delayMs) : Effect.succeed(faultResponse(fault));
  });

  return HttpRouter.route(method, path, traffic.counted(`${method} ${path}`)(faulty));
};

const faultResponse = (
  fault: Exclude<Fault, { readonly mode: "slow" }>,
): HttpServerResponse.HttpServerResponse => {
  switch (fault.mode) {
    case "down":
      return refuse("unavailable", fault.status);
    case "limited":
      return HttpServerResponse.setHeader(refuse("rate_limited"), "retry-after", String(fault.retryAfter));
    case "garbage":
      return HttpServerResponse.text(fault.body, { contentType: "application/json" });
    case "cut":
      // A response body whose stream fails makes every kind of HTTP server close the connection.
      return HttpServerResponse.stream(Stream.fromEffect(Effect.interrupt));
  }
};
