import type { PlatformFixture } from "@accountlink/core/fixture";
import { Effect, Layer, type Redacted } from "effect";
import { Digest, SecureRandom } from "effect/crypto";
import { HttpRouter, type HttpServer } from "effect/http";
import { channelRoutes } from "../channel/channel_routes.ts";
import { chosenUserRoutes } from "../oauth/authorize_endpoint.ts";
import { type Clients, oauthApi } from "../oauth/oauth_api.ts";
import { makePlatformState, PlatformControl, refuse, type Simulation } from "../simulation.ts";
import { botInvite } from "./bot_invite.ts";
import { chatApi } from "./chat_api.ts";
import { gameApi } from "./game_api.ts";
import { gamePage, gameUserPage } from "./game_page.ts";

export interface DevPlatformOptions {
  readonly fixture: PlatformFixture;
  readonly botToken: Redacted.Redacted;
  /** The client of each OAuth server. Without a client, nobody can sign in. */
  readonly clients?: Clients;
  /** The public URL of the service that answers commands and has the sign-ins; without it, no service answers. */
  readonly serviceUrl?: string;
  /** A key with access `game`, with which a game on `/game/play` names its players to the service. */
  readonly gameKey?: Redacted.Redacted | undefined;
}

/** Serves both platforms on the provided HTTP server. Each layer has its own state. */
export const devPlatform = ({
  fixture,
  botToken,
  clients = {},
  serviceUrl,
  gameKey,
}: DevPlatformOptions): Layer.Layer<never, never, HttpServer.HttpServer> =>
  HttpRouter.serve(
    Layer.unwrap(
      Effect.gen(function* () {
        const platforms = makePlatformState(fixture);
        const { around, routes } = (yield* PlatformControl)(platforms);
        const simulation: Simulation = { platforms, around };
        const unknown = HttpRouter.route("*", "*", refuse("unknown_route"));
        return HttpRouter.addAll([
          ...chatApi(simulation, botToken),
          ...gameApi(simulation),
          ...(yield* oauthApi(simulation, clients)),
          ...chosenUserRoutes(simulation, serviceUrl),
          ...(yield* botInvite(simulation, clients.chat)),
          ...(yield* gameUserPage(simulation)),
          ...(gameKey === undefined || serviceUrl === undefined
            ? []
            : yield* gamePage(simulation, { key: gameKey, serviceUrl })),
          ...(yield* channelRoutes(simulation, serviceUrl)),
          ...routes,
          unknown,
        ]);
      }).pipe(Effect.provide(cryptoLayer)),
    ),
    // A user name of 100 characters is longer as a part of a path.
    { disableLogger: true, disableListenLog: true, routerConfig: { maxParamLength: 1_000 } },
  );

const cryptoLayer = Layer.merge(Digest.layerWebCrypto, SecureRandom.layerWebCrypto);
