/** For tests: the live platforms, and a game over HTTP, at addresses that a test answers. */
import { ChatIdentity, ChatPlatform, GamePlatform } from "@accountlink/core";
import { Context, Duration, Effect, Layer, Redacted } from "effect";
import type { HttpClient } from "effect/http";
import { liveChatIdentity } from "./discord/chat_identity.ts";
import { liveChatPlatform } from "./discord/chat_platform.ts";
import { httpGamePlatform } from "./game_http/game_platform.ts";
import { liveGamePlatform } from "./roblox/game_platform.ts";

/** The live platforms have every optional operation. */
export interface LivePlatforms {
  readonly chat: Required<ChatPlatform["Service"]>;
  readonly identity: ChatIdentity["Service"];
  readonly game: Required<GamePlatform["Service"]>;
  /** A game of one's own over HTTP. */
  readonly own: Required<GamePlatform["Service"]>;
}

const resilience = { backoff: Duration.millis(1), retries: 0 };

/** Effects that build one platform each, without retries. With `hasKey`, the game platform asks Open Cloud first. */
export const livePlatforms = (
  client: Layer.Layer<HttpClient.HttpClient>,
  urls: Readonly<Record<"discord" | "roblox" | "own", string>>,
  hasKey: boolean,
) => {
  const build = <I, S>(layer: Layer.Layer<I, never, HttpClient.HttpClient>, key: Context.Key<I, S>) =>
    Effect.map(
      Layer.build(Layer.provide(layer, client)),
      (services) => Context.get(services, key) as Required<S>,
    );
  const discord = { apiUrl: urls.discord, publicUrl: "https://link.example", resilience };
  const token = Redacted.make("t");
  const apiKey = hasKey ? Redacted.make("k") : undefined;
  return {
    chat: build(liveChatPlatform({ botToken: token, ...discord }), ChatPlatform),
    identity: build(liveChatIdentity({ clientId: "1", clientSecret: token, ...discord }), ChatIdentity),
    game: build(liveGamePlatform({ apiUrl: urls.roblox, apiKey, resilience }), GamePlatform),
    own: build(httpGamePlatform({ url: urls.own, token, resilience }), GamePlatform),
  };
};
