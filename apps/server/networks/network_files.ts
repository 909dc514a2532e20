/**
 * Tells whether an IP address belongs to a VPN or a shared network, from the network files that a deployment
 * configures.
 */
import { parseNetwork } from "@accountlink/core/addresses";
import { NetworkIntelligence } from "@accountlink/core/alts";
import { Effect, Layer, Option } from "effect";
import { type Config, InvalidConfig } from "../config/config.ts";
import { NetworkSet, readNetworkList } from "./network_list.ts";
import { type DamagedFile, reloadedFile } from "./reloaded_file.ts";
import { readVpnDatabase } from "./vpn_database.ts";

type Paths = Pick<
  Config,
  "ACCOUNTLINK_VPN_NETWORKS" | "ACCOUNTLINK_VPN_DATABASE" | "ACCOUNTLINK_SHARED_NETWORKS"
>;

/**
 * Reads the files now, and again when they change. Fails if a file cannot be used at the start. If it becomes unusable
 * later, its previous content stays in use.
 *
 * @param vpnCidrs additional VPN networks, which come from the fixture
 */
export const networksLayer = (
  paths: Paths,
  vpnCidrs: ReadonlyArray<string>,
): Layer.Layer<NetworkIntelligence, InvalidConfig> => {
  const reloaded = <A>(name: keyof Paths, read: (path: string) => Effect.Effect<A, DamagedFile>) => {
    const path = paths[name];
    return path === null
      ? Effect.succeed(() => null)
      : Effect.mapError(
          reloadedFile(path, read),
          ({ found, expected }) =>
            new InvalidConfig({ problem: `${name} is "${path}" (${found}), expected ${expected}` }),
        );
  };
  return Layer.effect(
    NetworkIntelligence,
    Effect.gen(function* () {
      const fixed = new NetworkSet(vpnCidrs.flatMap((cidr) => Option.toArray(parseNetwork(cidr))));
      const vpnNetworks = yield* reloaded("ACCOUNTLINK_VPN_NETWORKS", readNetworkList);
      const vpnDatabase = yield* reloaded("ACCOUNTLINK_VPN_DATABASE", readVpnDatabase);
      const sharedNetworks = yield* reloaded("ACCOUNTLINK_SHARED_NETWORKS", readNetworkList);
      return NetworkIntelligence.of({
        lookup: (address) => {
          const shared = sharedNetworks()?.has(address) ?? false;
          const listed = fixed.has(address) || (vpnNetworks()?.has(address) ?? false);
          const database = vpnDatabase();
          return listed || database === null
            ? Effect.succeed({ vpn: listed, shared })
            : Effect.map(database.has(address), (vpn) => ({ vpn, shared }));
        },
      });
    }),
  );
};
