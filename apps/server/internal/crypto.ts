/**
 * Cryptography by Node.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import { Layer } from "effect";

/** What the services of core ask for. */
export const cryptoLayer = Layer.mergeAll(
  NodeCrypto.layerSecureRandom,
  NodeCrypto.layerDigest,
  NodeCrypto.layerMac,
  NodeCrypto.layerKdf,
  NodeCrypto.layerAead,
);
