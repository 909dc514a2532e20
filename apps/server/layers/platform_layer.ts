/**
 * The platform and identity ports.
 */
import { createServer } from "node:http";
import type { PlatformFixture } from "@accountlink/core/fixture";
import {
  devChatIdentity,
  devChatPlatform,
  devGameIdentity,
  devGamePlatform,
  devPlatform,
} from "@accountlink/platform-dev";
import { cachedChatPlatform, cachedGamePlatform } from "@accountlink/platform-http";
import {
  liveChatIdentity,
  liveChatPlatform,
  liveGameIdentity,
  liveGamePlatform,
} from "@accountlink/platform-live";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Effect, Layer, Redacted } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import { FetchHttpClient, HttpServer } from "effect/http";
import type { Platform } from "../config/resolved_config.ts";
import { listenError } from "../serving/listen_error.ts";
import type { DevPlatformAccess } from "../workers/messages.ts";
import { CurrentWorker } from "../workers/worker.ts";

/**
 * The ports of both platforms and of their sign-ins.
 *
 * @param fixture the initial state of the dev platform
 * @param publicUrl the public URL of the service, once it is known
 */
export const platformLayer = (
  platform: Platform,
  fixture: PlatformFixture,
  publicUrl: Effect.Effect<string>,
) =>
  (platform.kind === "live" ? livePlatforms(platform) : devPlatforms(platform, fixture, publicUrl)).pipe(
    Layer.provide(FetchHttpClient.layer),
  );

const livePlatforms = ({ publicUrl, chat, game }: Extract<Platform, { readonly kind: "live" }>) =>
  Layer.mergeAll(
    cachedChatPlatform().pipe(Layer.provide(liveChatPlatform({ ...chat, publicUrl }))),
    cachedGamePlatform().pipe(Layer.provide(liveGamePlatform(game))),
    liveChatIdentity({ ...chat, publicUrl }),
    liveGameIdentity(game),
  );

/** Workers share the dev platform of the primary process. */
const devPlatforms = (
  platform: Extract<Platform, { readonly kind: "dev" }>,
  fixture: PlatformFixture,
  publicUrl: Effect.Effect<string>,
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const worker = yield* CurrentWorker;
      const access = worker?.start.devPlatform ?? (yield* startDevPlatform(platform, fixture, publicUrl));
      const { baseUrl } = access;
      const { botToken, chat, game } = registrationOf(access, publicUrl);
      return Layer.mergeAll(
        cachedChatPlatform().pipe(Layer.provide(devChatPlatform({ baseUrl, botToken }))),
        cachedGamePlatform().pipe(Layer.provide(devGamePlatform({ baseUrl }))),
        devChatIdentity({ baseUrl, client: chat }),
        devGameIdentity({ baseUrl, client: game }),
      );
    }),
  );

/** Starts the dev platform on its own port, with secrets that are generated at each start. */
export const startDevPlatform = Effect.fnUntraced(function* (
  { port }: Extract<Platform, { readonly kind: "dev" }>,
  fixture: PlatformFixture,
  publicUrl: Effect.Effect<string>,
) {
  const random = yield* SecureRandom.SecureRandom;
  const makeSecret = Effect.map(random.randomBytes(32), Base64Url.encode);
  const secrets = {
    botToken: yield* makeSecret,
    chatSecret: yield* makeSecret,
    gameSecret: yield* makeSecret,
  };
  const { botToken, chat, game } = registrationOf(secrets, publicUrl);
  const loopback = { host: "127.0.0.1", port };
  const server = NodeHttpServer.layer(createServer, loopback);
  const context = yield* Layer.build(
    devPlatform({ fixture, botToken, clients: { chat, game } }).pipe(Layer.provideMerge(server)),
  ).pipe(Effect.mapError(({ cause }) => listenError("ACCOUNTLINK_DEV_PLATFORM_PORT", loopback, cause)));
  const baseUrl = yield* HttpServer.addressFormattedWith(Effect.succeed).pipe(Effect.provideContext(context));
  return { baseUrl, ...secrets };
});

/** This service's registration at the dev platform. */
const registrationOf = (
  { botToken, chatSecret, gameSecret }: Omit<DevPlatformAccess, "baseUrl">,
  publicUrl: Effect.Effect<string>,
) => {
  const clientOf = (secret: string, ...callbacks: ReadonlyArray<string>) => ({
    clientId: "accountlink",
    clientSecret: Redacted.make(secret),
    redirectUris: Effect.map(publicUrl, (url) => callbacks.map((callback) => url + callback)),
  });
  return {
    botToken: Redacted.make(botToken),
    chat: clientOf(chatSecret, "/verify/chat/callback", "/dashboard/callback", "/me/callback"),
    game: clientOf(gameSecret, "/verify/game/callback"),
  };
};
