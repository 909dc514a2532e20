import type { GameId } from "@accountlink/core";
import { Effect, Logger } from "effect";
import { FetchHttpClient } from "effect/http";
import type { Platform, ResolvedConfig } from "../../config/resolved_config.ts";
import { reasonOf } from "../../message_text.ts";
import { inspectChat } from "../chat/chat.ts";
import { checkHttpGame, checkRoblox, gameProofs, hasStatus, unreachable } from "./check_game.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Sends a test request to the live platforms. */
export const checkPlatform = (
  resolved: ResolvedConfig,
  gameId: GameId | null,
): Effect.Effect<ReadonlyArray<Finding>> => {
  const { platform } = resolved;
  switch (platform.kind) {
    case "live":
      return checkLive(resolved, platform, gameId);
    case "dev":
      return Effect.succeed([
        ok("platform", "dev, on which anyone can sign in as anybody"),
        gameProofs(resolved, null),
      ]);
    case "none":
      return Effect.succeed([ok("platform", "none is asked")]);
  }
};

const checkLive = Effect.fnUntraced(function* (
  resolved: ResolvedConfig,
  platform: Extract<Platform, { readonly kind: "live" }>,
  gameId: GameId | null,
) {
  const { config } = resolved;
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
    ...(game.kind === "http"
      ? [checkHttpGame(live, resolved, game, gameId)]
      : [...checkRoblox(live, game), Effect.succeed(gameProofs(resolved, null))]),
    ...(config.ACCOUNTLINK_CHAT_COMMANDS === "on" ? [commands] : []),
    ...(config.ACCOUNTLINK_CHAT_GATEWAY === "on" ? [joins] : []),
  ];
  const asked = Effect.map(Effect.all(checks, { concurrency: "unbounded" }), (findings) => findings.flat());
  // Turns logging off: the findings already report the errors that the platform clients would log.
  return yield* Effect.provide(asked, [FetchHttpClient.layer, Logger.layer([])]);
});
