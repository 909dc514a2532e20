/**
 * The server that plays both platforms.
 */
import type { PlatformFixture } from "@accountlink/core/fixture";
import { Effect, Layer, type Redacted } from "effect";
import { Digest, SecureRandom, Signature } from "effect/crypto";
import { HttpRouter, HttpServer } from "effect/http";
import type { Platform } from "./fault.ts";
import { refuse } from "./internal/answers.ts";
import { chatApi } from "./internal/chat_api.ts";
import { controlApi } from "./internal/control_api.ts";
import { makeFaults } from "./internal/faults.ts";
import { gameApi } from "./internal/game_api.ts";
import { oauthApi } from "./internal/oauth_api.ts";
import type { Stage } from "./internal/platform_route.ts";
import { makeTraffic } from "./internal/traffic.ts";
import { makeWorld } from "./internal/world.ts";
import type { RegisteredClient } from "./oauth_client.ts";

export interface DevPlatformOptions {
  /** What the platforms know at the start. */
  readonly fixture: PlatformFixture;
  /** What the service's bot must send as its bearer token. */
  readonly botToken: Redacted.Redacted;
  /** The service as each OAuth server knows it. Where it is left out, nobody can sign in. */
  readonly clients?: Partial<Readonly<Record<Platform, RegisteredClient>>>;
}

/**
 * Serves both platforms on the HTTP server that is provided to it. Each layer has a world of its own, which control
 * requests change and which ends with it.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
 * import { Effect, Layer, Redacted } from "effect";
 * import { HttpServer } from "effect/http";
 *
 * const fixture = { guilds: [], chatUsers: [], gameUsers: [] };
 * const platform = devPlatform({ fixture, botToken: Redacted.make("secret") }).pipe(
 *   Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
 * );
 * const status = Effect.gen(function* () {
 *   const url = yield* HttpServer.addressFormattedWith(Effect.succeed);
 *   return yield* Effect.promise(async () => (await fetch(`${url}/game/api/users/1`)).status);
 * });
 * await Effect.runPromise(Effect.provide(status, platform)); // 404
 * ```
 */
export const devPlatform = ({
  fixture,
  botToken,
  clients = {},
}: DevPlatformOptions): Layer.Layer<never, never, HttpServer.HttpServer> =>
  HttpRouter.serve(
    Layer.unwrap(
      Effect.gen(function* () {
        const stage: Stage = { world: makeWorld(fixture), faults: makeFaults(), traffic: makeTraffic() };
        const { address } = yield* HttpServer.HttpServer;
        const signIn = yield* oauthApi(stage, { baseUrl: HttpServer.formatAddress(address), clients });
        const unknown = HttpRouter.route("*", "*", refuse("unknown_route"));
        return HttpRouter.addAll([
          ...chatApi(stage, botToken),
          ...gameApi(stage),
          ...signIn,
          ...controlApi(stage),
          unknown,
        ]);
      }).pipe(Effect.provide(cryptoLayer)),
    ),
    { disableLogger: true, disableListenLog: true },
  );

const cryptoLayer = Layer.mergeAll(Digest.layerWebCrypto, Signature.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto),
);
