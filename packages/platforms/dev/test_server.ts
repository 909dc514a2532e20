/** For tests: a dev platform on a free port. */
import { createServer } from "node:http";
import type { PlatformFixture } from "@accountlink/core/fixture";
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Context, Effect, Layer, Redacted } from "effect";
import { HttpBody, HttpClient, HttpClientRequest, HttpServer } from "effect/http";
import type { Resilience } from "../http/mod.ts";
import { devChatPlatform } from "./chat_platform.ts";
import { devGamePlatform } from "./game_platform.ts";
import type { OAuthClient } from "./identities.ts";
import { devPlatform } from "./server/server.ts";
import { type Fault, type TrafficReport, withTestControl } from "./test_control.ts";

export const botToken = Redacted.make("bot-token");

export const oauthClient: OAuthClient = {
  clientId: "service",
  clientSecret: Redacted.make("a secret: 100%+"),
};
export const redirectUri = "http://127.0.0.1:9/callback?from=here";

/** The body of a request that sets a fault. Fields with defaults are optional. */
export type FaultBody = Partial<Fault> & Pick<Fault, "mode">;

/** Starts a server, and stops it with the scope. */
export const startServer = Effect.fnUntraced(function* (fixture: PlatformFixture) {
  const address = { host: "127.0.0.1", port: 0 };
  const client = { ...oauthClient, redirectUris: [redirectUri] };
  const server = Layer.provideMerge(
    devPlatform({ fixture, botToken, clients: { chat: client, game: client } }),
    NodeHttpServer.layer(() => createServer(), address),
  );
  const running = yield* withTestControl(Layer.build(Layer.merge(server, NodeHttpClient.layerUndici)));
  const http = Context.get(running, HttpClient.HttpClient);
  const url = HttpServer.formatAddress(Context.get(running, HttpServer.HttpServer).address);

  /** Sends one request, with the bot's token unless another is given. */
  const send = Effect.fnUntraced(function* (
    method: "GET" | "PUT" | "DELETE",
    path: string,
    options: { readonly body?: unknown; readonly token?: string | null } = {},
  ) {
    const { body, token = Redacted.value(botToken) } = options;
    const response = yield* http.execute(
      HttpClientRequest.make(method)(url + path, {
        ...(body === undefined ? {} : { body: HttpBody.jsonUnsafe(body) }),
        headers: token === null ? {} : { authorization: `Bearer ${token}` },
      }),
    );
    const text = yield* response.text;
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : JSON.parse(text),
    };
  });

  return {
    url,
    send,
    setFault: (fault: FaultBody) => send("PUT", "/faults", { body: fault }),
    traffic: Effect.map(send("GET", "/requests"), ({ body }) => body as TrafficReport),
    adapters: (resilience: Partial<Resilience> = {}) =>
      Layer.merge(
        devChatPlatform({ baseUrl: url, botToken, resilience }),
        devGamePlatform({ baseUrl: url, resilience }),
      ).pipe(Layer.provide(Layer.succeedContext(running))),
  };
});
