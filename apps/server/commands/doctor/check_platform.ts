import { ChatIdentity, type GameId, GameIdentity } from "@accountlink/core";
import { reasonOf } from "@accountlink/core/errors";
import type { IdentityProvider } from "@accountlink/core/platforms";
import { type Context, Effect, type Layer, Logger } from "effect";
import { FetchHttpClient, type HttpClient } from "effect/http";
import type { OfKind, Platform, ResolvedConfig } from "../../config/resolved_config.ts";
import { inspectChat } from "../chat/chat.ts";
import { checkChatClock } from "./check_clock.ts";
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
  platform: OfKind<Platform, "live">,
  gameId: GameId | null,
) {
  const { config } = resolved;
  const { publicUrl, chat, game } = platform;
  const live = yield* Effect.promise(() => import("@accountlink/platforms/live"));
  const chatPlatform = live.inspectLiveChatPlatform({ ...chat, publicUrl }).pipe(
    Effect.match({
      onSuccess: ({ bot, clockLead }) => [
        ok("chat platform", `it knows the bot as "${bot}"`),
        ...checkChatClock(clockLead),
      ],
      onFailure: (error) => [
        hasStatus(error, 401)
          ? fail("chat platform", "it refuses ACCOUNTLINK_CHAT_BOT_TOKEN", "Make a new token and set it")
          : unreachable("chat platform", error, "ACCOUNTLINK_CHAT_API_URL"),
      ],
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
  const application = live.inspectLiveApplication({ ...chat, publicUrl }).pipe(
    Effect.match({
      onSuccess: ({ id, reportsJoins }): ReadonlyArray<Finding> => [
        ...(id === chat.clientId
          ? []
          : [
              fail(
                "chat platform",
                `ACCOUNTLINK_CHAT_CLIENT_ID is "${chat.clientId}", but the bot is of application ${id}`,
                "Name the application of the bot, and set its secret",
              ),
            ]),
        ...(config.ACCOUNTLINK_CHAT_GATEWAY === "on" ? [joinsFinding(reportsJoins)] : []),
      ],
      onFailure: (error): ReadonlyArray<Finding> =>
        config.ACCOUNTLINK_CHAT_GATEWAY === "on"
          ? [warn("joins", reasonOf(error), "The daily sweep finds new members meanwhile")]
          : [],
    }),
  );
  const chatIdentity = live.liveChatIdentity({ ...chat, publicUrl });
  const gameIdentity =
    game.client === undefined
      ? null
      : game.kind === "http"
        ? live.httpGameIdentity(game.client)
        : live.liveGameIdentity({ ...game, ...game.client });
  const signIns = [
    refusedClient(live, "CHAT", ChatIdentity, chatIdentity, publicUrl),
    ...(gameIdentity === null ? [] : [refusedClient(live, "GAME", GameIdentity, gameIdentity, publicUrl)]),
  ];
  const checks = [
    chatPlatform,
    ...(game.kind === "http"
      ? [checkHttpGame(live, resolved, game, gameId)]
      : [...checkRoblox(live, game), Effect.succeed(gameProofs(resolved, null))]),
    ...(config.ACCOUNTLINK_CHAT_COMMANDS === "on" ? [commands] : []),
    application,
    ...signIns,
  ];
  const asked = Effect.map(Effect.all(checks, { concurrency: "unbounded" }), (findings) => findings.flat());
  // Turns logging off: the findings already report the errors that the platform clients would log.
  return yield* Effect.provide(asked, [FetchHttpClient.layer, Logger.layer([])]);
});

const joinsFinding = (areReported: boolean): Finding =>
  areReported
    ? ok("joins", "the chat platform reports them")
    : warn("joins", "the chat platform refuses to report them", "Give the bot the intent server members");

/** What the platform says of the client ID and the secret with which users sign in. */
const refusedClient = <Id, UserId>(
  { isClientRefused }: typeof import("@accountlink/platforms/live"),
  name: "CHAT" | "GAME",
  identity: Context.Key<Id, IdentityProvider<UserId>>,
  layer: Layer.Layer<Id, never, HttpClient.HttpClient>,
  publicUrl: string,
) =>
  isClientRefused(identity, `${publicUrl}/verify/${name.toLowerCase()}/callback`).pipe(
    Effect.map((isRefused) =>
      isRefused
        ? [
            fail(
              `${name.toLowerCase()} sign-in`,
              `the platform refuses ACCOUNTLINK_${name}_CLIENT_ID with ACCOUNTLINK_${name}_CLIENT_SECRET`,
              "Set both as the application has them",
            ),
          ]
        : [],
    ),
    Effect.provide(layer),
  );
