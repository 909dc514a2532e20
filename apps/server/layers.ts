/**
 * The layers that a plan picks.
 */
import { createServer } from "node:http";
import { CacheMemory } from "@accountlink/cache-memory";
import { AccountLink, Limits, type PlatformFixture, Secrets } from "@accountlink/core";
import { devChatPlatform, devGamePlatform, devPlatform } from "@accountlink/platform-dev";
import { cachedChatPlatform, cachedGamePlatform } from "@accountlink/platform-http";
import { StorageMemory } from "@accountlink/storage-memory";
import { StorageSql } from "@accountlink/storage-sql";
import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node";
import { Effect, Layer, Redacted } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import { HttpServer } from "effect/http";
import { cryptoLayer } from "./internal/crypto.ts";
import { listenRefused } from "./internal/listen_refused.ts";
import type { Plan, Storage } from "./plan.ts";

/** The storage ports. */
const storageLayer = (storage: Storage) =>
  storage.kind === "memory" ? StorageMemory.layer : StorageSql.layerEmbedded({ folder: storage.folder });

/** Both platforms, played from a fixture over HTTP on a port of their own. */
const devPlatforms = (fixture: PlatformFixture, port: number) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom;
      const botToken = Redacted.make(Base64Url.encode(yield* random.randomBytes(32)));
      const loopback = { host: "127.0.0.1", port };
      const server = NodeHttpServer.layer(createServer, loopback);
      const context = yield* Layer.build(
        devPlatform({ fixture, botToken }).pipe(Layer.provideMerge(server)),
      ).pipe(Effect.mapError(({ cause }) => listenRefused("ACCOUNTLINK_DEV_PLATFORM_PORT", loopback, cause)));
      const baseUrl = yield* HttpServer.addressFormattedWith((address) => Effect.succeed(address)).pipe(
        Effect.provideContext(context),
      );
      return Layer.merge(
        cachedChatPlatform().pipe(Layer.provide(devChatPlatform({ baseUrl, botToken }))),
        cachedGamePlatform().pipe(Layer.provide(devGamePlatform({ baseUrl }))),
      ).pipe(Layer.provide(NodeHttpClient.layerUndici));
    }),
  );

/** Everything that the HTTP application and the command line work with. */
export const serviceLayer = (
  { config, storage, limits }: Plan,
  secret: Redacted.Redacted<Uint8Array>,
  platform: PlatformFixture,
) =>
  AccountLink.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        storageLayer(storage),
        Secrets.layer(secret),
        devPlatforms(platform, config.ACCOUNTLINK_DEV_PLATFORM_PORT),
      ),
    ),
    Layer.provideMerge(Layer.mergeAll(CacheMemory.layer, cryptoLayer, Layer.succeed(Limits, limits))),
  );
