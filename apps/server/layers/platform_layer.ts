import { ChatIdentity, ChatPlatform, GameIdentity, GamePlatform } from "@accountlink/core";
import {
  devChatIdentity,
  devChatPlatform,
  devGameIdentity,
  devGamePlatform,
} from "@accountlink/dev-platforms";
import { cachedChatPlatform, cachedGamePlatform } from "@accountlink/platforms/http";
import {
  httpGameIdentity,
  httpGamePlatform,
  liveChatIdentity,
  liveChatPlatform,
  liveGameIdentity,
  liveGamePlatform,
} from "@accountlink/platforms/live";
import { Effect, Layer, Redacted } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import { FetchHttpClient } from "effect/http";
import type { LiveGame, OfKind, Platform } from "../config/resolved_config.ts";
import type { StartupFixture } from "../fixture/startup_fixture.ts";
import { DevPlatformStart } from "./dev_platform_start.ts";

export type PlayedFixture = Pick<StartupFixture, "platform" | "gameKey">;

/** Provides the services that look up users and guilds on the platforms, and those that sign users in. */
export const platformLayer = (platform: Platform, fixture: PlayedFixture, publicUrl: string) =>
  layerOf(platform, fixture, publicUrl).pipe(Layer.provide(FetchHttpClient.layer));

const layerOf = (platform: Platform, fixture: PlayedFixture, publicUrl: string) => {
  switch (platform.kind) {
    case "live":
      return livePlatforms(platform);
    case "dev":
      return devPlatforms(platform, fixture, publicUrl);
    case "none":
      return noPlatforms;
  }
};

/** Without a platform or an application, no page offers a sign-in, so these functions are never called. */
const noSignInSince = (reason: string) => ({
  begin: () => Effect.die(`Cannot sign in: ${reason}`),
  finish: () => Effect.die(`Cannot sign in: ${reason}`),
});

const noSignIn = noSignInSince("ACCOUNTLINK_PLATFORM is none");
const noGameSignIn = noSignInSince("ACCOUNTLINK_GAME_PROOFS does not name oauth");

/**
 * Without platforms, every user and membership counts as existing, and every member of an account manages every guild.
 */
const noPlatforms = Layer.mergeAll(
  Layer.succeed(GamePlatform, {
    hasUser: () => Effect.succeed(true),
    findProfile: () => Effect.succeedNone,
  }),
  Layer.succeed(ChatPlatform, {
    findGuild: (id) => Effect.succeedSome({ id, name: null }),
    findMember: () => Effect.succeedSome({ nickname: null, joined: null, roles: [] }),
    joinedGuilds: (ids) => Effect.succeed(new Set(ids)),
    isManager: () => Effect.succeed(true),
    findUser: () => Effect.succeedNone,
  }),
  Layer.succeed(ChatIdentity, noSignIn),
  Layer.succeed(GameIdentity, noSignIn),
);

const livePlatforms = ({ publicUrl, chat, game }: OfKind<Platform, "live">) =>
  Layer.mergeAll(
    cachedChatPlatform().pipe(Layer.provide(liveChatPlatform({ ...chat, publicUrl }))),
    cachedGamePlatform().pipe(
      Layer.provide(game.kind === "http" ? httpGamePlatform(game) : liveGamePlatform(game)),
    ),
    liveChatIdentity({ ...chat, publicUrl }),
    gameIdentity(game),
  );

const gameIdentity = (game: LiveGame) => {
  if (game.client === undefined) return Layer.succeed(GameIdentity, noGameSignIn);
  return game.kind === "http" ? httpGameIdentity(game.client) : liveGameIdentity({ ...game, ...game.client });
};

/** Starts the dev platform on its own port, with secrets generated at each start. */
const devPlatforms = (
  { port }: OfKind<Platform, "dev">,
  { platform: fixture, gameKey }: PlayedFixture,
  publicUrl: string,
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom;
      const makeSecret = Effect.map(random.randomBytes(32), (bytes) =>
        Redacted.make(Base64Url.encode(bytes)),
      );
      const makeClient = (...callbacks: ReadonlyArray<string>) =>
        Effect.map(makeSecret, (clientSecret) => ({
          clientId: "accountlink",
          clientSecret,
          redirectUris: callbacks.map((callback) => publicUrl + callback),
        }));
      const botToken = yield* makeSecret;
      const chat = yield* makeClient("/verify/chat/callback", "/dashboard/callback", "/me/callback");
      const game = yield* makeClient("/verify/game/callback");
      const start = yield* DevPlatformStart;
      const options = { fixture, botToken, clients: { chat, game }, serviceUrl: publicUrl, gameKey };
      const baseUrl = yield* start(port, options);
      return Layer.mergeAll(
        cachedChatPlatform().pipe(Layer.provide(devChatPlatform({ baseUrl, botToken }))),
        cachedGamePlatform().pipe(Layer.provide(devGamePlatform({ baseUrl }))),
        devChatIdentity({ baseUrl, client: chat }),
        devGameIdentity({ baseUrl, client: game }),
      );
    }),
  );
