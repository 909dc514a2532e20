/** The root key of a deployment, and the hashes and encryption derived from it. */
export * from "./root_key.ts";
export * from "./root_key_store.ts";
export * from "./secrets.ts";
export type { StoredCode } from "./session_code.ts";
export * from "./web_crypto.ts";
export * from "./webhook_signature.ts";
export * from "./wrapped_root_key.ts";
