/**
 * The port that says what is known of the network of an address: whether it hides who is behind it, and whether
 * strangers share it.
 */
import { Context, Data, Effect, Layer } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";

/** What is known of the network of an address. */
export interface NetworkFacts {
  /** It belongs to a VPN or another service that hides where its users are. */
  readonly vpn: boolean;
  /** Many people who are strangers to each other have it: a carrier's NAT, a school, a relay. */
  readonly shared: boolean;
}

/**
 * The networks cannot be asked now. The message names no address.
 *
 * @example
 * ```ts
 * import { NetworkIntelligence } from "@accountlink/core";
 * import { Layer } from "effect";
 *
 * const networks = Layer.succeed(NetworkIntelligence, {
 *   lookup: () => new NetworkIntelligenceUnavailable({ message: "The service does not answer" }),
 * });
 * ```
 */
export class NetworkIntelligenceUnavailable extends Data.TaggedError("NetworkIntelligenceUnavailable")<{
  readonly message: string;
  /** What happened inside. Never part of an answer. */
  readonly cause?: unknown;
}> {}

/** Knows networks. An address that is on no list is neither a VPN's nor shared. */
export class NetworkIntelligence extends Context.Service<
  NetworkIntelligence,
  {
    /** What is known of the network of an address. */
    readonly lookup: (address: ClientAddress) => Effect.Effect<NetworkFacts, NetworkIntelligenceUnavailable>;
  }
>()("@accountlink/core/NetworkIntelligence") {
  /** Without lists, nothing is known of any network. */
  static readonly none = Layer.succeed(NetworkIntelligence, {
    lookup: () => Effect.succeed({ vpn: false, shared: false }),
  });
}
