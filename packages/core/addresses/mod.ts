/** Client addresses: read, compared, redacted, and protected for storage. */
export * from "./address_vault.ts";
export * from "./client_address.ts";
export * from "./private_url.ts";
export { redact, redactKeys } from "./redaction.ts";
export * from "./sighting.ts";
