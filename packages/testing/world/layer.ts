/**
 * Every service and port in memory, loaded with a fixture, under a test clock.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import {
  AccountLink,
  AddressVault,
  type Fixture,
  FixtureLoader,
  NetworkIntelligence,
} from "@accountlink/core";
import { parseNetwork } from "@accountlink/core/addresses";
import { Fixture as FixtureSchema } from "@accountlink/core/fixture";
import { PlatformMemory } from "@accountlink/platform-memory";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Layer, Option, Redacted, Schema } from "effect";
import { Aead, Digest, Kdf, Mac, SecureRandom } from "effect/crypto";
import { IpNetwork } from "effect/net";
import { TestClock } from "effect/testing";
import { aFixture } from "../builders/fixture.ts";
import { secrets } from "./secrets.ts";

export { secrets } from "./secrets.ts";

const addressKeys = new Map([["test", Redacted.make(new Uint8Array(32).fill(9))]]);

const vault = AddressVault.layer(addressKeys).pipe(
  Layer.provide([Aead.layerWebCrypto, Kdf.layerWebCrypto, Mac.layerWebCrypto]),
  Layer.provide(SecureRandom.layerWebCrypto),
);

const networks = (vpnCidrs: ReadonlyArray<string>) => {
  const vpns = vpnCidrs.flatMap((text) => Option.toArray(parseNetwork(text)));
  return Layer.succeed(NetworkIntelligence, {
    lookup: ({ ip }) =>
      Effect.succeed({ vpn: vpns.some((network) => IpNetwork.contains(network, ip)), shared: false }),
  });
};

const ports = ({ platform, vpnCidrs }: Fixture) =>
  Layer.mergeAll(
    StorageMemory.layer,
    CacheMemory.layer,
    PlatformMemory.layer(platform),
    PlatformMemory.layerIdentities(platform),
    networks(vpnCidrs),
    vault,
    secrets,
    SecureRandom.layerWebCrypto,
    Digest.layerWebCrypto,
  );

const load = (fixture: Fixture) =>
  Effect.flatMap(FixtureLoader, (loader) =>
    loader.load(JSON.stringify(Schema.encodeSync(FixtureSchema)(fixture))),
  );

/**
 * The services of `AccountLink.layer` and `AccountLink.layerWeb` with their ports, on a fixture. It
 * is a new world in every build, at time 0 of its own test clock; a fixture that cannot be loaded
 * is a defect.
 *
 * @param fixture accounts, keys, links and platforms; empty by default
 *
 * @example
 * ```ts
 * import { AuditLog, GamePlatform, GameId } from "@accountlink/core";
 * import { Effect } from "effect";
 * import { TestClock } from "effect/testing";
 *
 * const world = MemoryWorld.layer(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * const program = Effect.gen(function* () {
 *   yield* TestClock.adjust("1 day");
 *   const [imported] = yield* (yield* AuditLog).list("acme", null, 1);
 *   return [imported?.action, yield* (yield* GamePlatform).hasUser(GameId.make("1"))];
 * });
 * await Effect.runPromise(Effect.provide(program, world)); // ["links.imported", true]
 * ```
 */
export const layer = (fixture: Fixture = aFixture()) =>
  Layer.effectDiscard(load(fixture)).pipe(
    Layer.orDie,
    Layer.provideMerge(AccountLink.layerWeb),
    Layer.provideMerge(AccountLink.layer),
    Layer.provideMerge(ports(fixture)),
    Layer.provideMerge(TestClock.layer()),
    Layer.fresh,
  );

/** Every service and port of the world. */
export type Services = Layer.Success<ReturnType<typeof layer>>;
