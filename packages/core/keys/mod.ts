/** API keys: their records, storage port, management and authentication. */

export * from "../scope_settings.ts";
export * from "./api_key.ts";
export * from "./api_keys.ts";
export { type AuthenticatedKey, KeyAuthenticator, keyFreshness } from "./key_authenticator.ts";
export * from "./key_store.ts";
export * from "./owned_keys.ts";
