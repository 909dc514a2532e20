/** For tests: a dev platform on a free port. */
import { createServer } from "node:http";
import type { PlatformFixture } from "@accountlink/core/fixture";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Context, Effect, Layer, Redacted } from "effect";
import { HttpServer } from "effect/http";
import type { OAuthClient } from "./identities.ts";
import { devPlatform } from "./server/server.ts";

export const oauthClient: OAuthClient = {
  clientId: "service",
  clientSecret: Redacted.make("a secret: 100%+"),
};
export const redirectUri = "http://127.0.0.1:9/callback?from=here";

/** Starts a server, and stops it with the scope. Returns its URL. */
export const startServer = Effect.fnUntraced(function* (fixture: PlatformFixture) {
  const client = { ...oauthClient, redirectUris: [redirectUri] };
  const platform = devPlatform({
    fixture,
    botToken: Redacted.make("bot-token"),
    clients: { chat: client, game: client },
  });
  const running = yield* Layer.build(
    Layer.provideMerge(
      platform,
      NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }),
    ),
  );
  return { url: HttpServer.formatAddress(Context.get(running, HttpServer.HttpServer).address) };
});
