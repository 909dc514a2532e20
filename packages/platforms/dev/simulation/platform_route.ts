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

type Response = HttpServerResponse.HttpServerResponse;

/** @param handler fails with the response to an invalid request; does not run if a fault replaces the response */
export const platformRoute = <R>(
  { faults, traffic }: Simulation,
  method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH",
  path: `/${Platform}/${string}`,
  handler: Effect.Effect<Response, Response, R>,
) => {
  const platform = path.startsWith("/chat/") ? "chat" : "game";
  const answer = handler.pipe(Effect.catch(Effect.succeed));
  const faulty = Effect.suspend(() => {
    const fault = faults.take(platform, path);
    if (fault === null) return answer;
    return fault.mode === "slow" ? Effect.delay(answer, fault.delayMs) : Effect.succeed(faultResponse(fault));
  });

  return HttpRouter.route(method, path, traffic.counted(`${method} ${path}`)(faulty));
};

const faultResponse = (fault: Exclude<Fault, { readonly mode: "slow" }>): Response => {
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
