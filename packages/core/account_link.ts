/**
 * The whole service over its ports.
 */
import { Layer, type Redacted } from "effect";
import { Digest, SecureRandom } from "effect/crypto";
import { ApiKeys } from "./services/api_keys.ts";
import { BulkLookup } from "./services/bulk_lookup.ts";
import { FixtureLoader } from "./services/fixture_loader.ts";
import { GuildGuard } from "./services/guild_guard.ts";
import { KeyAuthenticator } from "./services/key_authenticator.ts";
import { LinkLookup } from "./services/link_lookup.ts";
import { LinkWriter } from "./services/link_writer.ts";
import { Profiles } from "./services/profiles.ts";
import { RequestLimits } from "./services/request_limits.ts";
import { Secrets } from "./services/secrets.ts";

/**
 * Every service of the package. What it needs are the ports (`LinkStore`, `KeyStore`, `Counters`, `Signals`,
 * `ChatPlatform`, `GamePlatform`), `Secrets`, and `SecureRandom` and `Digest` of `effect/crypto`.
 */
export const layer = Layer.mergeAll(
  BulkLookup.layer,
  FixtureLoader.layer,
  KeyAuthenticator.layer,
  LinkLookup.layer,
  LinkWriter.layer,
  RequestLimits.layer,
).pipe(Layer.provideMerge(Layer.mergeAll(ApiKeys.layer, GuildGuard.layer, Profiles.layer)));

/**
 * The same on Web Crypto, which every runtime has. What it needs then are the ports alone.
 *
 * @param secret 32 or more random bytes, the same for as long as the stores last: keys are hashed with them
 */
export const layerWebCrypto = (secret: Redacted.Redacted<Uint8Array>) =>
  layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(Secrets.layerWebCrypto(secret), SecureRandom.layerWebCrypto, Digest.layerWebCrypto),
    ),
  );
