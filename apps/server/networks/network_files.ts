/**
 * Tells whether an IP address belongs to a VPN or a shared network, from the network files that a deployment
 * configures.
 */
import { NetworkIntelligence } from "@accountlink/core/alts";
import { Effect, Layer } from "effect";
import type { IpNetwork } from "effect/net";
import type { DamagedFile } from "./damaged_file.ts";
import { NetworkSet, readNetworkList } from "./network_list.ts";
import { reloadedFile } from "./reloaded_file.ts";
import { readVpnDatabase } from "./vpn_database.ts";

/** The paths of the network files; null for a file that is not configured. */
export interface Paths {
  readonly vpnNetworks: string | null;
  /** A database of VPN networks, in mmdb format. */
  readonly vpnDatabase: string | null;
  /** A list of networks whose addresses unrelated users share: carriers, schools, relays. */
  readonly sharedNetworks: string | null;
}

/**
 * Reads the files now, and again when they change. Fails if a file cannot be used at the start. If it becomes unusable
 * later, its previous content stays in use.
 *
 * @param vpnCidrs additional VPN networks
 */
export const layer = (
  paths: Paths,
  vpnCidrs: ReadonlyArray<IpNetwork.IpNetwork>,
): Layer.Layer<NetworkIntelligence, DamagedFile> =>
  Layer.effect(
    NetworkIntelligence,
    Effect.gen(function* () {
      const fixed = NetworkSet.of(vpnCidrs);
      const vpnNetworks = yield* reloadedIfAny(paths.vpnNetworks, readNetworkList);
      const vpnDatabase = yield* reloadedIfAny(paths.vpnDatabase, readVpnDatabase);
      const sharedNetworks = yield* reloadedIfAny(paths.sharedNetworks, readNetworkList);
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

const reloadedIfAny = <A>(path: string | null, read: (path: string) => Effect.Effect<A, DamagedFile>) =>
  path === null ? Effect.succeed(() => null) : reloadedFile(path, read);
