import type { PlatformFixture } from "@accountlink/core/fixture";
import { Effect, Layer, type Redacted } from "effect";
import { Digest, SecureRandom, Signature } from "effect/crypto";
import { HttpRouter, HttpServer } from "effect/http";
import { channelRoutes } from "../channel/channel_routes.ts";
import type { Platform } from "../fault.ts";
import { chosenUserRoutes } from "../oauth/chosen_user.ts";
import { oauthApi } from "../oauth/oauth_api.ts";
import type { RegisteredClient } from "../oauth_client.ts";
import { makeFaults } from "../simulation/faults.ts";
import type { Simulation } from "../simulation/platform_route.ts";
import { makePlatformState } from "../simulation/platform_state.ts";
import { refuse } from "../simulation/responses.ts";
import { makeTraffic } from "../simulation/traffic.ts";
import { botInvite } from "./bot_invite.ts";
import { chatApi } from "./chat_api.ts";
import { controlApi } from "./control_api.ts";
import { gameApi } from "./game_api.ts";

export interface DevPlatformOptions {
  readonly fixture: PlatformFixture;
  /** The bearer token of the service's bot. */
  readonly botToken: Redacted.Redacted;
  /** The client of each OAuth server. Without a client, nobody can sign in. */
  readonly clients?: Partial<Readonly<Record<Platform, RegisteredClient>>>;
  /** The public URL of the service that answers commands and has the sign-ins; without it, no service answers. */
  readonly serviceUrl?: string;
}

/** Serves both platforms on the provided HTTP server. Each layer has its own state, which control requests change. */
export const devPlatform = ({
  fixture,
  botToken,
  clients = {},
  serviceUrl,
}: DevPlatformOptions): Layer.Layer<never, never, HttpServer.HttpServer> =>
  HttpRouter.serve(
    Layer.unwrap(
      Effect.gen(function* () {
        const simulation: Simulation = {
          platforms: makePlatformState(fixture),
          faults: makeFaults(),
          traffic: makeTraffic(),
        };
        const { address } = yield* HttpServer.HttpServer;
        const signIn = yield* oauthApi(simulation, { baseUrl: HttpServer.formatAddress(address), clients });
        const unknown = HttpRouter.route("*", "*", refuse("unknown_route"));
        return HttpRouter.addAll([
          ...chatApi(simulation, botToken),
          ...gameApi(simulation),
          ...signIn,
          ...chosenUserRoutes(simulation, serviceUrl),
          ...(yield* botInvite(simulation, clients.chat)),
          ...(yield* channelRoutes(simulation, serviceUrl)),
          ...controlApi(simulation),
          unknown,
        ]);
      }).pipe(Effect.provide(cryptoLayer)),
    ),
    // A user name of 100 characters is longer as a part of a path.
    { disableLogger: true, disableListenLog: true, routerConfig: { maxParamLength: 1_000 } },
  );

const cryptoLayer = Layer.mergeAll(Digest.layerWebCrypto, Signature.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto),
);
