/**
 * Node's implementation of the cryptographic services that core requires.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import { Layer } from "effect";
import { layerAead } from "./aes_gcm.ts";

export const cryptoLayer = Layer.mergeAll(
  NodeCrypto.layerSecureRandom,
  NodeCrypto.layerDigest,
  NodeCrypto.layerMac,
  NodeCrypto.layerKdf,
  layerAead,
);
