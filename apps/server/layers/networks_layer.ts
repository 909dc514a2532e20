import { parseNetwork } from "@accountlink/core/addresses";
import { NetworkIntelligence } from "@accountlink/core/alts";
import { Effect, Layer, Option } from "effect";
import { type Config, InvalidConfig } from "../config/config.ts";
import type { DamagedFile } from "../networks/damaged_file.ts";
import * as NetworkFiles from "../networks/network_files.ts";

const networkFiles = [
  "ACCOUNTLINK_VPN_NETWORKS",
  "ACCOUNTLINK_VPN_DATABASE",
  "ACCOUNTLINK_SHARED_NETWORKS",
] as const;

/**
 * Provides network intelligence from the configured files and from `vpnCidrs`, which come from the fixture. If a file
 * cannot be used, fails with an error that names its variable.
 */
export const networksLayer = (
  config: Config,
  vpnCidrs: ReadonlyArray<string>,
): Layer.Layer<NetworkIntelligence, InvalidConfig> =>
  NetworkFiles.layer(
    {
      vpnNetworks: config.ACCOUNTLINK_VPN_NETWORKS,
      vpnDatabase: config.ACCOUNTLINK_VPN_DATABASE,
      sharedNetworks: config.ACCOUNTLINK_SHARED_NETWORKS,
    },
    vpnCidrs.flatMap((cidr) => Option.toArray(parseNetwork(cidr))),
  ).pipe(
    Layer.catchTag("DamagedFile", (damaged) =>
      Layer.effect(NetworkIntelligence, Effect.fail(refusalOf(config, damaged))),
    ),
  );

const refusalOf = (config: Config, { path, found, expected }: DamagedFile): InvalidConfig => {
  const name = networkFiles.find((variable) => config[variable] === path) ?? "A file";
  return new InvalidConfig({ problem: `${name} is "${path}" (${found}), expected ${expected}` });
};
