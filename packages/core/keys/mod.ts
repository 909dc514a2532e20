/** API keys: record, port, management and authentication. */
export * from "./api_key.ts";
export * from "./api_keys.ts";
export * from "./key_authenticator.ts";
export * from "./key_store.ts";
export * from "./key_update.ts";
export * from "./owned_keys.ts";
export * from "./stored_key.ts";
