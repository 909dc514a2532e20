import { Context, Data, Effect, Layer } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";

export interface NetworkFacts {
  /** Whether the address belongs to a VPN or another service that hides its users' locations. */
  readonly vpn: boolean;
  /**
   * Whether unrelated people use the address at the same time: behind a carrier's NAT, in a school, or through a relay.
   */
  readonly shared: boolean;
}

/**
 * Networks cannot be looked up now. The message contains no address.
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
  /** The internal cause. It is never part of a response. */
  readonly cause?: unknown;
}> {}

/** Looks up facts about the networks of addresses. An address that is on no list counts as neither VPN nor shared. */
export class NetworkIntelligence extends Context.Service<
  NetworkIntelligence,
  {
    readonly lookup: (address: ClientAddress) => Effect.Effect<NetworkFacts, NetworkIntelligenceUnavailable>;
  }
>()("@accountlink/core/NetworkIntelligence") {
  /** A layer without any facts: every address counts as neither VPN nor shared. */
  static readonly none = Layer.succeed(NetworkIntelligence, {
    lookup: () => Effect.succeed({ vpn: false, shared: false }),
  });
}
