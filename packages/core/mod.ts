/**
 * The link domain, for teams that embed it. It runs in any JavaScript runtime with Web Crypto.
 *
 * Provide the ports with layers (`@accountlink/memory`, `@accountlink/sql`, …) and use the services. Each folder is an
 * entry point with all of its exports, such as `@accountlink/core/links` for storage adapters.
 */

// `AccountLink` assembles all services. The other exports are the types of IDs.

export * as AccountLink from "./account_link.ts";
export { ChatId, GameId, GuildId, KeyId, Pid, Sid } from "./ids.ts";

// Lookups and writes of links in a data scope.

export { type DataScope, guildOf, type ScopeTarget, targetOfGuild } from "./data_scope.ts";
export { BulkLookup } from "./links/bulk_lookup.ts";
export type { Link } from "./links/link.ts";
export { LinkLookup } from "./links/link_lookup.ts";
export { LinkWriter } from "./links/link_writer.ts";

// A selection of the errors. `@accountlink/core/errors` exports all of them.

export {
  BulkLimitExceeded,
  Conflict,
  Forbidden,
  InvalidApiKey,
  InvalidParameter,
  LinkNotFound,
  PlatformUnavailable,
  PremiumRequired,
  type PublicError,
  SessionExpired,
  SessionNotFound,
  StoreUnavailable,
} from "./errors.ts";

// Accounts, their API keys, and the limits of the keys.

export { Accounts } from "./accounts/accounts.ts";
export type { ApiKey } from "./keys/api_key.ts";
export { ApiKeys } from "./keys/api_keys.ts";
export { KeyAuthenticator } from "./keys/key_authenticator.ts";
export { OwnedKeys } from "./keys/owned_keys.ts";
export { RequestLimits } from "./limits/request_limits.ts";

// Verification sessions, and the flow for browsers.

export { VerificationFlows } from "./flow/verification_flows.ts";
export { SessionReads } from "./sessions/session_reads.ts";
export { SessionSettings } from "./sessions/session_settings.ts";
export type { VerificationSession } from "./sessions/session_store.ts";
export { VerificationSessions } from "./sessions/verification_sessions.ts";

// Sign-ins of users to the dashboard and to their own data.

export { SignIns } from "./sign_ins/sign_ins.ts";

// Possibly related accounts, and moderators' reviews of them.

export { AltDetection } from "./alts/alt_detection.ts";
export { AltReviews } from "./alts/alt_reviews.ts";

// Fixtures, how long audit entries and events are kept, and the data of users.

export { decodeFixture, Fixture } from "./fixture/fixture.ts";
export { FixtureLoader } from "./fixture/fixture_loader.ts";
export { AuditRetention, EventRetention } from "./retention.ts";
export { UserData } from "./users/user_data.ts";

// The ports: storage, services that nodes share, and the platforms.

export { AddressVault } from "./addresses/address_vault.ts";
export { NetworkIntelligence } from "./alts/network_intelligence.ts";
export { AuditLog } from "./audit/audit.ts";
export { Cache } from "./cache.ts";
export { certificateCode, certificateProblem, type RefusedCertificate } from "./certificate_problem.ts";
export { EventStore } from "./events/event_store.ts";
export { Counters } from "./limits/counters.ts";
export { LinkStore } from "./links/link_store.ts";
export { ChatPlatform } from "./platforms/chat_platform.ts";
export { GamePlatform } from "./platforms/game_platform.ts";
export { ChatIdentity, GameIdentity } from "./platforms/identity_provider.ts";
export { Signals } from "./signals.ts";
export type { StoragePorts } from "./storage.ts";
export { StorageIdentity } from "./storage_identity.ts";
export type { Row, RowKey, RowValue, StorageRows } from "./storage_rows.ts";
export {
  type FoundStorage,
  type Moved,
  MoveRefused,
  refusalOf,
  StorageCheck,
  StorageFault,
  StorageRefused,
  StorageTooNew,
  schemaAhead,
  waitForStorage,
} from "./storage_state.ts";
export { makeStorageUse, type PlaceRecords, type Rest, StorageUse } from "./storage_use.ts";
