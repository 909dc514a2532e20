import { Layer } from "effect";
import { Accounts, layerGuildManagers, Members } from "./accounts/mod.ts";
import { AltDetection, AltReviews } from "./alts/mod.ts";
import { NewLinkAlts } from "./alts/new_link_alts.ts";
import { SecurityLog } from "./audit/security_log.ts";
import { Communities } from "./communities/communities.ts";
import { EventFeed } from "./events/event_feed.ts";
import { FixtureLoader } from "./fixture/fixture_loader.ts";
import { FlowSubjects } from "./flow/flow_subjects.ts";
import { VerificationFlows } from "./flow/verification_flows.ts";
import { GuildLog } from "./guild_log/guild_log.ts";
import { Idempotency } from "./idempotency/idempotency.ts";
import { ApiKeys, KeyAuthenticator, OwnedKeys } from "./keys/mod.ts";
import { RequestLimits } from "./limits/request_limits.ts";
import { BulkLookup, LinkCap, LinkEvents, LinkLookup, LinkWriter } from "./links/mod.ts";
import { MemberLists } from "./owners/member_lists.ts";
import { OwnedAccounts } from "./owners/owned_accounts.ts";
import { OwnedBlocks } from "./owners/owned_blocks.ts";
import { OwnedLinks } from "./owners/owned_links.ts";
import { OwnedScopes } from "./owners/owned_scopes.ts";
import { UnlinkedMembers } from "./owners/unlinked_members.ts";
import { GuildGuard, PlatformRefusals, Profiles } from "./platforms/mod.ts";
import * as Retention from "./retention.ts";
import { MemberSync, RolePlans, StoredPlans } from "./roles/mod.ts";
import { type DeploymentSecrets, RootKey, Secrets, webCrypto } from "./secrets/mod.ts";
import { SessionReads, SessionWatch, VerificationSessions } from "./sessions/mod.ts";
import { SignIns } from "./sign_ins/sign_ins.ts";
import { RequestPlaces } from "./turns/mod.ts";
import * as Upgrades from "./upgrades/upgrades.ts";
import { UsageMeter } from "./usage/usage_meter.ts";
import { OwnLinks, OwnSightings, UserData, UserExports } from "./users/mod.ts";
import * as UnfinishedErasures from "./users/unfinished_erasures.ts";
import { Webhooks } from "./webhooks/webhooks.ts";

/**
 * The services of clients: links, accounts, keys, limits, sessions, webhooks, role plans and fixtures. They require the
 * ports `LinkStore`, `KeyStore`, `MemberStore`, `SessionStore`, `EventStore`, `AltReviewStore`, `RolePlanStore`,
 * `WebhookStore`, `IdempotencyStore`, `AuditLog`, `UsageStore`, `Cache`, `Counters`, `Signals`, `ChatPlatform` and
 * `GamePlatform`, as well as `Secrets`, and `SecureRandom` and `Digest` of `effect/crypto`. `AddressVault` is optional;
 * with it, fixtures can contain sightings.
 */
export const layer = Layer.mergeAll(
  Accounts.layer,
  Members.layer,
  AltReviews.layer,
  BulkLookup.layer,
  EventFeed.layer,
  FixtureLoader.layer,
  Idempotency.layer,
  KeyAuthenticator.layer,
  LinkCap.layer,
  LinkEvents.layer,
  LinkLookup.layer,
  LinkWriter.layer,
  OwnedKeys.layer,
  Retention.layer,
  RolePlans.layer,
  UsageMeter.layer,
  VerificationSessions.layer,
  Webhooks.layer,
).pipe(
  Layer.provideMerge(Layer.merge(Communities.layer, SessionReads.layer)),
  Layer.provideMerge(
    Layer.mergeAll(
      ApiKeys.layer,
      GuildLog.layer,
      GuildGuard.layer.pipe(Layer.provideMerge(layerGuildManagers)),
      MemberSync.layer,
      RequestPlaces.layer,
      PlatformRefusals.layer,
      Profiles.layer,
      RequestLimits.layer,
      SecurityLog.layer,
      StoredPlans.layer,
      SessionWatch.layer,
    ),
  ),
);

/**
 * Provides `VerificationFlows`, the public verification flow. Besides the services that `layer` provides, it requires
 * `FlowStore`, `ChatIdentity`, `GameIdentity` and, for the alts of new links, what `layerAlts` requires and
 * `SuspectStore`.
 */
export const layerFlows = VerificationFlows.layer.pipe(
  Layer.provide([FlowSubjects.layer, NewLinkAlts.layer]),
);

/**
 * Provides `SignIns`, with which users sign in to the dashboard and to the pages of their own data. Besides the
 * services that `layer` provides, it requires `SignInStore`, `ChatIdentity`, `Secrets` and `SecureRandom`.
 */
export const layerSignIns = SignIns.layer;

/**
 * Provides `OwnLinks`, `OwnSightings`, `UserExports` and `UserData`, with which users see, export and erase their data.
 * Besides the services that `layer` provides, it requires `UserStore` and `AddressVault`.
 */
export const layerUsers = Layer.mergeAll(
  OwnLinks.layer,
  OwnSightings.layer,
  UnfinishedErasures.layer,
  Upgrades.layer,
  UserExports.layer,
).pipe(Layer.provideMerge(UserData.layer));

/**
 * Provides `AltDetection`. Besides the services that `layer` provides, it requires `SightingStore`, `AddressVault` and
 * `NetworkIntelligence`.
 */
export const layerAlts = AltDetection.layer;

/**
 * Provides `OwnedScopes`, `OwnedLinks`, `OwnedBlocks`, `UnlinkedMembers` and `OwnedAccounts`, with which owners see and
 * change the links of their communities, and their account. Besides the services that `layer` provides, it requires
 * `Cache`.
 */
export const layerOwners = Layer.mergeAll(
  OwnedLinks.layer,
  OwnedBlocks.layer,
  UnlinkedMembers.layer,
  OwnedAccounts.layer,
).pipe(Layer.provideMerge(Layer.merge(OwnedScopes.layer, MemberLists.layer)));

/**
 * All of the layers above, as the HTTP application requires them.
 *
 * @example
 * ```ts
 * import { AddressVault, NetworkIntelligence } from "@accountlink/core";
 * import { RootKey, Secrets, webCrypto } from "@accountlink/core/secrets";
 * import { CacheMemory, PlatformMemory, StorageMemory } from "@accountlink/memory";
 * import { Layer, Redacted } from "effect";
 *
 * const secret = Redacted.make(crypto.getRandomValues(new Uint8Array(32)));
 * const people = { guilds: [], chatUsers: [], gameUsers: [] };
 *
 * // Leave out what you do not use.
 * const web: typeof AccountLink.layerWeb = Layer.mergeAll(
 *   AccountLink.layerFlows,
 *   AccountLink.layerSignIns,
 *   AccountLink.layerUsers,
 *   AccountLink.layerAlts,
 *   AccountLink.layerOwners,
 * );
 * const service = web.pipe(
 *   Layer.provideMerge(AccountLink.layer),
 *   Layer.provide([PlatformMemory.layer(people), PlatformMemory.layerIdentities(people)]),
 *   Layer.provide([NetworkIntelligence.none, AddressVault.layer(new Map([["2026", secret]]))]),
 *   Layer.provide(Secrets.layer.pipe(Layer.provide(RootKey.layer([secret])))),
 *   Layer.provide([StorageMemory.layer, CacheMemory.layer]),
 *   Layer.provide(webCrypto),
 * );
 * ```
 */
export const layerWeb = Layer.mergeAll(layerFlows, layerSignIns, layerUsers, layerAlts, layerOwners);

/**
 * `layer` with the cryptography of Web Crypto, which every runtime has. It requires the ports of `layer`, and
 * `RootKeyStore`. It fails with `SecretRejected` if the root key in the store was wrapped by another secret, and with
 * `StoreUnavailable` if the store does not answer.
 *
 * @param secrets the secret that wraps the root key of the store, 32 or more random bytes; during a rotation, the
 * previous secret is the second argument
 */
export const layerWebCrypto = (...secrets: DeploymentSecrets) =>
  layer.pipe(
    Layer.provideMerge(Secrets.layer.pipe(Layer.provide(RootKey.layer(secrets)))),
    Layer.provideMerge(webCrypto),
  );
