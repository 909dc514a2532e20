/**
 * One route of a played platform: counted, then at the mercy of a fault, then let in by the token, then answered.
 */
import { Effect, Stream } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
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
  /** What the bot must send as its bearer token. */
  readonly botToken: string;
}

export interface PlatformRoute {
  readonly platform: Platform;
  readonly path: HttpRouter.PathInput;
  /** Whether only the bot may ask. */
  readonly forBot: boolean;
  /** Answers from the values in the path. */
  readonly answer: (
    values: Readonly<Record<string, string | undefined>>,
  ) => HttpServerResponse.HttpServerResponse;
}

export const platformRoute = (
  { faults, traffic, botToken }: Stage,
  { platform, path, forBot, answer }: PlatformRoute,
) => {
  const answerRightly = Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest;
    if (forBot && headers["authorization"] !== `Bearer ${botToken}`) return refuse("unauthorized");
    return answer(yield* HttpRouter.params);
  });

  const handler = Effect.suspend(() => {
    const fault = faults.take(platform);
    if (fault === null) return answerRightly;
    return fault.mode === "slow"
      ? Effect.delay(answerRightly, fault.delayMs)
      : Effect.succeed(misbehave(fault));
  });

  return HttpRouter.route("GET", path, traffic.counted(`GET ${path}`)(handler));
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
