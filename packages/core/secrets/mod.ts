/** The root key of a deployment, and the hashes and encryption derived from it. */

export * from "./crypto.ts";
export * from "./root_key.ts";
export * from "./secrets.ts";
export type { StoredCode } from "./session_code.ts";
