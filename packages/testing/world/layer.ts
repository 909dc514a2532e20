/**
 * Every service and port in memory, loaded with a fixture, under a test clock.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import {
  AddressVault,
  AccountLink as Core,
  type Fixture,
  FixtureLoader,
  NetworkIntelligence,
} from "@accountlink/core";
import { parseNetwork } from "@accountlink/core/addresses";
import { Fixture as FixtureSchema } from "@accountlink/core/fixture";
import { PlatformMemory } from "@accountlink/platform-memory";
import { StorageMemory } from "@accountlink/storage-memory";
import { AccountLink } from "accountlink";
import { Effect, Layer, Option, Redacted, Schema } from "effect";
import { Aead, Digest, Kdf, Mac, SecureRandom } from "effect/crypto";
import { IpNetwork } from "effect/net";
import { TestClock } from "effect/testing";
import { aFixture } from "../builders/fixture.ts";
import { secrets } from "./secrets.ts";

export { secrets } from "./secrets.ts";

const addressKeys = new Map([["test", Redacted.make(new Uint8Array(32).fill(9))]]);

const networks = (vpnCidrs: ReadonlyArray<string>) => {
  const vpns = vpnCidrs.flatMap((text) => Option.toArray(parseNetwork(text)));
  return Layer.succeed(NetworkIntelligence, {
    lookup: ({ ip }) =>
      Effect.succeed({ vpn: vpns.some((network) => IpNetwork.contains(network, ip)), shared: false }),
  });
};

/** What a fixture says that keeps no state: the platforms and the networks; and the vault of addresses. */
export const surroundings = ({ platform, vpnCidrs }: Fixture) =>
  Layer.mergeAll(
    PlatformMemory.layer(platform),
    PlatformMemory.layerIdentities(platform),
    networks(vpnCidrs),
    AddressVault.layer(addressKeys),
  );

/** Stores what a fixture says. */
export const load = (fixture: Fixture) =>
  Effect.flatMap(FixtureLoader, (loader) =>
    loader.load(JSON.stringify(Schema.encodeSync(FixtureSchema)(fixture))),
  );

/**
 * Where the world is served, to a test.
 *
 * @example
 * ```ts
 * import { Sessions } from "accountlink";
 * import { Effect } from "effect";
 *
 * const entry = Effect.gen(function* () {
 *   const { url } = yield* (yield* Sessions).create({ clientId: "7" });
 *   return url?.startsWith(`${MemoryWorld.publicUrl}/verify?sid=`);
 * });
 * await Effect.runPromise(Effect.provide(entry, MemoryWorld.layer())); // true
 * ```
 */
export const publicUrl = "https://links.test";

/** Every service over the ports, once they hold what they begin with. */
export const servicesAfter = <E, R>(prepared: Effect.Effect<unknown, E, R>) =>
  AccountLink.layerServices({ account: "acme" }, { publicUrl, redirectOrigins: [] }).pipe(
    Layer.provideMerge(Layer.effectDiscard(prepared)),
    Layer.provideMerge(Core.layerWeb),
    Layer.provideMerge(Core.layer),
  );

const webCrypto = Layer.mergeAll(
  Aead.layerWebCrypto,
  Digest.layerWebCrypto,
  Kdf.layerWebCrypto,
  Mac.layerWebCrypto,
).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto));

/**
 * Every service, and the ports below them, on a fixture. `Links`, `Keys`, `Sessions` and their like
 * work in the global scope of the account "acme", which is that of fixtures. It is a new world in
 * every build, at time 0 of its own test clock; a fixture that cannot be loaded is a defect.
 *
 * @param fixture accounts, keys, links and platforms; empty by default
 *
 * @example
 * ```ts
 * import { Links } from "accountlink";
 * import { Effect } from "effect";
 * import { TestClock } from "effect/testing";
 *
 * const world = MemoryWorld.layer(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * const program = Effect.gen(function* () {
 *   const links = yield* Links;
 *   yield* TestClock.adjust("1 hour");
 *   const { chatId } = yield* links.move("100001", "100002");
 *   return [chatId, (yield* links.get("100002"))?.gameId];
 * });
 * await Effect.runPromise(Effect.provide(program, world)); // ["100002", "1"]
 * ```
 */
export const layer = (fixture: Fixture = aFixture()) =>
  servicesAfter(load(fixture)).pipe(
    Layer.orDie,
    Layer.provideMerge(surroundings(fixture)),
    Layer.provideMerge(Layer.mergeAll(StorageMemory.layer, CacheMemory.layer, secrets, webCrypto)),
    Layer.provideMerge(TestClock.layer()),
    Layer.fresh,
  );

/**
 * Every service and port of the world.
 *
 * @example
 * ```ts
 * import { Links } from "accountlink";
 * import { Effect } from "effect";
 *
 * // A step of tests that works in every world.
 * const step = (chatId: string): Effect.Effect<string | null, unknown, MemoryWorld.Services> =>
 *   Effect.flatMap(Links, (links) => Effect.map(links.get(chatId), (link) => link?.gameId ?? null));
 * const world = await memoryWorld(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * await world.run(step("100001")); // "1"
 * await world.close();
 * ```
 */
export type Services = Layer.Success<ReturnType<typeof layer>>;
