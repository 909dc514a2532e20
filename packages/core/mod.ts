/**
 * The link domain: ids, records, errors, ports and services. It runs in any JavaScript runtime with Web Crypto.
 *
 * Provide the ports with layers (`@accountlink/storage-memory`, `@accountlink/storage-sql`, …) and use the services.
 */
export * as AccountLink from "./account_link.ts";
export * from "./api_key.ts";
export * from "./audit.ts";
export * from "./client_address.ts";
export * from "./completion.ts";
export * from "./data_scope.ts";
export * from "./errors.ts";
export * from "./fixture.ts";
export * from "./flow_refusal.ts";
export * from "./ids.ts";
export * from "./link.ts";
export * from "./monotonic_millis.ts";
export * from "./origin.ts";
export * from "./ports/audit_log.ts";
export * from "./ports/cache.ts";
export * from "./ports/cache_agreement.ts";
export * from "./ports/chat_platform.ts";
export * from "./ports/count_ledger.ts";
export * from "./ports/counters.ts";
export * from "./ports/flow_store.ts";
export * from "./ports/game_platform.ts";
export * from "./ports/identity_provider.ts";
export * from "./ports/key_store.ts";
export * from "./ports/link_cache.ts";
export * from "./ports/link_store.ts";
export * from "./ports/session_store.ts";
export * from "./ports/signals.ts";
export * from "./profile.ts";
export * from "./quota.ts";
export * from "./redaction.ts";
export * from "./services/address_vault.ts";
export * from "./services/api_keys.ts";
export * from "./services/bulk_lookup.ts";
export * as CachedStores from "./services/cached_stores.ts";
export * from "./services/fixture_loader.ts";
export * from "./services/guild_guard.ts";
export * from "./services/key_authenticator.ts";
export * from "./services/link_lookup.ts";
export * from "./services/link_writer.ts";
export * from "./services/profiles.ts";
export * from "./services/request_limits.ts";
export * as ResilientCounters from "./services/resilient_counters.ts";
export * from "./services/secrets.ts";
export * from "./services/session_reads.ts";
export * from "./services/session_watch.ts";
export * from "./services/shared_links.ts";
export * from "./services/verification_flows.ts";
export * from "./services/verification_sessions.ts";
export * from "./session_settings.ts";
export * from "./sighting.ts";
export * from "./storable_text.ts";
export * from "./timestamp.ts";
export * from "./verification_flow.ts";
export * from "./verification_session.ts";
