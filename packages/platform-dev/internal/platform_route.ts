/**
 * One route of a played platform: counted, then at the mercy of a fault, then answered.
 */
import { Effect, Stream } from "effect";
import { HttpRouter, HttpServerResponse } from "effect/http";
import type { Fault, Platform } from "../fault.ts";
import { refuse } from "./answers.ts";
import type { Faults } from "./faults.ts";
import type { Traffic } from "./traffic.ts";
import type { World } from "./world.ts";

/** What the routes share. */
export interface Stage {
  readonly world: World;
  readonly faults: Faults;
  readonly traffic: Traffic;
}

export interface PlatformRoute<R> {
  readonly platform: Platform;
  readonly method: "GET" | "POST";
  readonly path: `/${string}`;
  /** The answer when nothing is wrong. */
  readonly answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>;
}

export const platformRoute = <R>(
  { faults, traffic }: Stage,
  { platform, method, path, answer }: PlatformRoute<R>,
) => {
  const handler = Effect.suspend(() => {
    const fault = faults.take(platform, path);
    if (fault === null) return answer;
    return fault.mode === "slow" ? Effect.delay(answer, fault.delayMs) : Effect.succeed(misbehave(fault));
  });

  return HttpRouter.route(method, path, traffic.counted(`${method} ${path}`)(handler));
};

const misbehave = (
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
      // A body that breaks makes the server close the connection, and asks nothing of the server's own kind.
      return HttpServerResponse.stream(Stream.fromEffect(Effect.interrupt));
  }
};
