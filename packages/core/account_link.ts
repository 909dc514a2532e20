/**
 * The whole service over its ports.
 */
import { Layer } from "effect";
import { Aead, Digest, Kdf, Mac, SecureRandom } from "effect/crypto";
import { type DeploymentSecrets, RootKey } from "./root_key.ts";
import { ApiKeys } from "./services/api_keys.ts";
import * as AuditRetention from "./services/audit_retention.ts";
import { BulkLookup } from "./services/bulk_lookup.ts";
import { FixtureLoader } from "./services/fixture_loader.ts";
import { FlowSubjects } from "./services/flow_subjects.ts";
import { GuildGuard } from "./services/guild_guard.ts";
import { KeyAuthenticator } from "./services/key_authenticator.ts";
import { LinkLookup } from "./services/link_lookup.ts";
import { LinkWriter } from "./services/link_writer.ts";
import { Profiles } from "./services/profiles.ts";
import { RequestLimits } from "./services/request_limits.ts";
import { Secrets } from "./services/secrets.ts";
import { SecurityLog } from "./services/security_log.ts";
import { SessionReads } from "./services/session_reads.ts";
import { SessionWatch } from "./services/session_watch.ts";
import { VerificationFlows } from "./services/verification_flows.ts";
import { VerificationSessions } from "./services/verification_sessions.ts";

/**
 * Every service of the package. What it needs are the ports (`LinkStore`, `KeyStore`, `SessionStore`, `AuditLog`, `Cache`, `Counters`,
 * `Signals`, `ChatPlatform`, `GamePlatform`), `Secrets`, and `SecureRandom` and `Digest` of `effect/crypto`.
 */
export const layer = Layer.mergeAll(
  AuditRetention.layer,
  BulkLookup.layer,
  FixtureLoader.layer,
  KeyAuthenticator.layer,
  LinkLookup.layer,
  LinkWriter.layer,
  RequestLimits.layer,
  SecurityLog.layer,
  VerificationSessions.layer,
).pipe(
  Layer.provideMerge(SessionReads.layer),
  Layer.provideMerge(Layer.mergeAll(ApiKeys.layer, GuildGuard.layer, Profiles.layer, SessionWatch.layer)),
);

/**
 * The public verification flow over the services above. What it needs besides their ports are `FlowStore`,
 * `ChatIdentity`, `GameIdentity` and `AddressVault`.
 */
export const layerFlows = VerificationFlows.layer.pipe(Layer.provide(FlowSubjects.layer));

/**
 * `layer` on Web Crypto, which every runtime has. What it needs then are the ports alone, `RootKeyStore` among them.
 *
 * @param secrets 32 or more random bytes each, the newest first: the secret that the root key of the store is wrapped
 * with, and while it is rotated the one before it as well. A store that another secret wrapped is refused.
 */
export const layerWebCrypto = (...secrets: DeploymentSecrets) =>
  layer.pipe(
    Layer.provideMerge(Secrets.layer.pipe(Layer.provide(RootKey.layer(secrets)))),
    Layer.provideMerge(Digest.layerWebCrypto),
    Layer.provide(Layer.mergeAll(Aead.layerWebCrypto, Kdf.layerWebCrypto, Mac.layerWebCrypto)),
    Layer.provideMerge(SecureRandom.layerWebCrypto),
  );
