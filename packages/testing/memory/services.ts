/** Layers for the service in memory: its services, and the data of a fixture. */
import {
  AddressVault,
  AccountLink as Core,
  type Fixture,
  FixtureLoader,
  NetworkIntelligence,
} from "@accountlink/core";
import { parseNetwork } from "@accountlink/core/addresses";
import { Fixture as FixtureSchema } from "@accountlink/core/fixture";
import { PlatformMemory } from "@accountlink/memory";
import { AccountLink } from "accountlink";
import { Effect, Layer, Option, Redacted, Schema } from "effect";
import { IpNetwork } from "effect/net";

/**
 * The public URL of the service in memory.
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

const addressKeys = new Map([["test", Redacted.make(new Uint8Array(32).fill(9))]]);

const networks = (vpnCidrs: ReadonlyArray<string>) => {
  const vpns = vpnCidrs.flatMap((text) => Option.toArray(parseNetwork(text)));
  return Layer.succeed(NetworkIntelligence, {
    lookup: ({ ip }) =>
      Effect.succeed({ vpn: vpns.some((network) => IpNetwork.contains(network, ip)), shared: false }),
  });
};

/** Provides the platforms and the VPN networks of a fixture, and the address vault. */
export const surroundings = ({ platform, vpnCidrs }: Fixture) =>
  Layer.mergeAll(
    PlatformMemory.layer(platform),
    PlatformMemory.layerIdentities(platform),
    networks(vpnCidrs),
    AddressVault.layer(addressKeys),
  );

/** Stores the accounts, keys, links, sightings and role plans of a fixture. */
export const load = (fixture: Fixture) =>
  FixtureLoader.use((loader) => loader.load(JSON.stringify(Schema.encodeSync(FixtureSchema)(fixture))));

/**
 * A layer of every service. It requires the ports, such as the stores and the platforms. The services start after the
 * effect `prepared` has succeeded.
 */
export const servicesAfter = <E, R>(prepared: Effect.Effect<unknown, E, R>) =>
  AccountLink.layerServices({ account: "acme" }, { publicUrl, redirectOrigins: [] }).pipe(
    Layer.provideMerge(Layer.effectDiscard(prepared)),
    Layer.provideMerge(Core.layerWeb),
    Layer.provideMerge(Core.layer),
  );
