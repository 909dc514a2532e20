import { createServer, type IncomingMessage } from "node:http";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { expect, it } from "@effect/vitest";
import { Effect, Layer } from "effect";
import { HttpClient, HttpServer, HttpServerResponse } from "effect/http";
import { httpClient } from "./http_client.ts";

const asked: Array<IncomingMessage["url"]> = [];

const redirecting = HttpServer.serve(Effect.succeed(HttpServerResponse.redirect("/elsewhere"))).pipe(
  Layer.provideMerge(
    NodeHttpServer.layer(() => createServer().on("request", ({ url }) => asked.push(url)), {
      port: 0,
      host: "127.0.0.1",
    }),
  ),
);

it.live("follows no redirect", () =>
  Effect.gen(function* () {
    const url = yield* HttpServer.addressFormattedWith(Effect.succeed);
    const response = yield* HttpClient.get(`${url}/start`);
    expect([response.status, response.headers["location"]]).toEqual([302, "/elsewhere"]);
    expect(asked).toEqual(["/start"]);
  }).pipe(Effect.provide(Layer.merge(redirecting, httpClient))),
);
