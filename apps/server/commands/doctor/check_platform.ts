import type { PlatformUnavailable } from "@accountlink/core";
import { Effect, Logger, Predicate, type Redacted } from "effect";
import { FetchHttpClient } from "effect/http";
import type { Config, VariableName } from "../../config/config.ts";
import type { Platform } from "../../config/resolved_config.ts";
import { reasonOf } from "../../message_text.ts";
import { inspectChat } from "../chat/chat.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Sends a test request to the live platforms. */
export const checkPlatform = (config: Config, platform: Platform): Effect.Effect<ReadonlyArray<Finding>> => {
  switch (platform.kind) {
    case "live":
      return checkLive(config, platform);
    case "dev":
      return Effect.succeed([ok("platform", "dev, on which anyone can sign in as anybody")]);
    case "none":
      return Effect.succeed([ok("platform", "none is asked")]);
  }
};

const checkLive = Effect.fnUntraced(function* (
  config: Config,
  platform: Extract<Platform, { readonly kind: "live" }>,
) {
  const { publicUrl, chat, game } = platform;
  const live = yield* Effect.promise(() => import("@accountlink/platforms/live"));
  const chatPlatform = live.inspectLiveChatPlatform({ ...chat, publicUrl }).pipe(
    Effect.match({
      onSuccess: (bot) => ok("chat platform", `it knows the bot as "${bot}"`),
      onFailure: (error) =>
        hasStatus(error, 401)
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
  const openCloud = (apiKey: Redacted.Redacted) =>
    live.inspectOpenCloud({ ...game, apiKey }).pipe(
      Effect.match({
        onSuccess: () => ok("open cloud", "it answers first, then the legacy routes"),
        onFailure: (error) =>
          hasStatus(error, 401, 403)
            ? warn(
                "open cloud",
                "it refuses ACCOUNTLINK_GAME_API_KEY, so the legacy routes answer",
                "Enable the key again, since keys expire after 60 days without use, or make a new one",
              )
            : warn("open cloud", reasonOf(error), "The legacy routes answer meanwhile"),
      }),
    );
  const commands = inspectChat(config, platform).pipe(
    Effect.map(({ isInstalled, problems: [problem] }) => {
      if (!isInstalled) return ok("commands", "they are not used yet: accountlink chat install makes them");
      return problem === undefined
        ? ok("commands", "they are at the chat platform, and are sent to this service")
        : warn("commands", problem, "Run accountlink chat install");
    }),
    Effect.catch((error) =>
      Effect.succeed(warn("commands", reasonOf(error), "They work when the chat platform answers")),
    ),
    Effect.scoped,
  );
  const joins = live.inspectLiveJoins({ ...chat, publicUrl }).pipe(
    Effect.match({
      onSuccess: (areReported) =>
        areReported
          ? ok("joins", "the chat platform reports them")
          : warn(
              "joins",
              "the chat platform refuses to report them",
              "Give the bot the intent server members",
            ),
      onFailure: (error) => warn("joins", reasonOf(error), "The daily sweep finds new members meanwhile"),
    }),
  );
  const checks = [
    chatPlatform,
    gamePlatform,
    game.apiKey === undefined
      ? Effect.succeed(ok("open cloud", "it is not asked, since ACCOUNTLINK_GAME_API_KEY is not set"))
      : openCloud(game.apiKey),
    ...(config.ACCOUNTLINK_CHAT_COMMANDS === "on" ? [commands] : []),
    ...(config.ACCOUNTLINK_CHAT_GATEWAY === "on" ? [joins] : []),
  ];
  const asked = Effect.all(checks, { concurrency: "unbounded" });
  // Turns logging off: the findings already report the errors that the platform clients would log.
  return yield* Effect.provide(asked, [FetchHttpClient.layer, Logger.layer([])]);
});

const hasStatus = ({ cause }: PlatformUnavailable, ...statuses: ReadonlyArray<unknown>): boolean =>
  Predicate.hasProperty(cause, "status") && statuses.includes(cause.status);

const unreachable = (check: string, error: PlatformUnavailable, urlVariable: VariableName): Finding =>
  fail(check, reasonOf(error), `Look whether it is down, and how it is reached (${urlVariable}, proxies)`);
