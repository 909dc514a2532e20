/**
 * Links chat accounts to game accounts in your own process. `createAccountLink` opens the service with promises. The
 * layers of `AccountLink` provide the same methods as Effect services.
 */

// With promises.

export {
  createAccountLink,
  type PromisedAccountLink,
  promisedAccountLink,
  type ScopedAccountLink,
} from "./create_account_link.ts";
export type { Promised } from "./promised.ts";

// With Effect.

export { type LinkEventMap, LinkEvents } from "@accountlink/core/links";
export * as AccountLink from "./account_link.ts";
export { Accounts } from "./accounts.ts";
export { type AltQuestion, Alts, type ReviewOptions } from "./alts.ts";
export { Audit, type AuditChoice } from "./audit.ts";
export { type EventChoice, Events, type FollowedEvent } from "./events.ts";
export { type KeyChoice, Keys, type RotateOptions } from "./keys.ts";
export { type LinkFile, type LinkImport, Links, type LookupOptions } from "./links.ts";
export { Roles } from "./roles.ts";
export { type ActorOptions, type CallOptions, Scope, type ScopeChoice, type WriteOptions } from "./scope.ts";
export { type Address, type Session, type SessionRequest, Sessions, type WaitOptions } from "./sessions.ts";
export { Users } from "./users.ts";
export { type DeliveryChoice, type WebhookChoice, Webhooks } from "./webhooks.ts";

// Options.

export {
  InvalidOptions,
  type Options,
  type Secret,
  type SecretValue,
  type Settings,
  type WebhookSending,
} from "./options.ts";
export type { PlatformFunctions, Platforms } from "./platforms.ts";
export { memory, type Storage } from "./storage.ts";

// Errors and IDs.

export { ChatId, GameId, GuildId, KeyId, Pid, Sid } from "@accountlink/core";
export { ImportEnded, UnreadableLinkFile, WrongLines } from "@accountlink/core/imports";
export { SecretRejected } from "@accountlink/core/secrets";
export * from "./errors.ts";
export { httpStatusOf } from "./http_status.ts";
