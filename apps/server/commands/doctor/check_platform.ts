import type { PlatformUnavailable } from "@accountlink/core";
import { Effect, Logger, Predicate } from "effect";
import { FetchHttpClient } from "effect/http";
import type { Config, VariableName } from "../../config/config.ts";
import { isDemo, type Platform, platformOf } from "../../config/resolved_config.ts";
import { reasonOf } from "../../message_text.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

type LivePlatform = Extract<Platform, { readonly kind: "live" }>;

/** Sends a request to live platforms. */
export const checkPlatform = (config: Config): Effect.Effect<ReadonlyArray<Finding>> =>
  platformOf(config).pipe(
    Effect.flatMap((platform) =>
      platform.kind === "live" ? checkLive(platform) : Effect.succeed([judgeDev(config)]),
    ),
    Effect.catch(({ problem }) => Effect.succeed([fail("platform", problem, "Set what is missing")])),
  );

const judgeDev = (config: Config): Finding => {
  if (isDemo(config)) return ok("platform", "dev, for the demo");
  const beyond = !/^(localhost|127\.|::1$)/.test(config.ACCOUNTLINK_HOST);
  return beyond
    ? warn(
        "platform",
        `dev, and ACCOUNTLINK_HOST is "${config.ACCOUNTLINK_HOST}"`,
        "Make it reachable for trusted people only: on the dev platform anyone can sign in as anybody",
      )
    : ok("platform", "dev, simulated by the server itself");
};

const checkLive = Effect.fnUntraced(function* ({ publicUrl, chat, game }: LivePlatform) {
  const live = yield* Effect.promise(() => import("@accountlink/platforms/live"));
  const chatPlatform = live.inspectLiveChatPlatform({ ...chat, publicUrl }).pipe(
    Effect.match({
      onSuccess: (bot) => ok("chat platform", `it knows the bot as "${bot}"`),
      onFailure: (error) =>
        isUnauthorized(error)
          ? fail("chat platform", "it refuses ACCOUNTLINK_CHAT_BOT_TOKEN", "Make a new token and set it")
          : unreachable("chat platform", error, "ACCOUNTLINK_CHAT_API_URL"),
    }),
  );
  const gamePlatform = live.inspectLiveGamePlatform(game).pipe(
    Effect.match({
      onSuccess: () => ok("game platform", "it answers"),
      onFailure: (error) => unreachable("game platform", error, "ACCOUNTLINK_GAME_API_URL"),
    }),
  );
  const asked = Effect.all([chatPlatform, gamePlatform], { concurrency: "unbounded" });
  // Their log lines are among the findings.
  const platforms = yield* Effect.provide(asked, [FetchHttpClient.layer, Logger.layer([])]);
  return [ok("platform", `live, and users come back to ${publicUrl}`), ...platforms];
});

const isUnauthorized = ({ cause }: PlatformUnavailable): boolean =>
  Predicate.hasProperty(cause, "status") && cause.status === 401;

const unreachable = (check: string, error: PlatformUnavailable, urlVariable: VariableName): Finding =>
  fail(check, reasonOf(error), `Look whether it is down, and how it is reached (${urlVariable}, proxies)`);
