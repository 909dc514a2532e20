/** Builds records as stores hold them, with defaults for fields that a test does not set. */
import { type ApiKey, type DataScope, guildOf, type VerificationSession } from "@accountlink/core";
import type { VerificationFlow } from "@accountlink/core/flow";
import type { BegunSignIn, SiteSignIn } from "@accountlink/core/sign_ins";
import type { StoredDelivery, Webhook } from "@accountlink/core/webhooks";
import {
  uniqueChatId,
  uniqueEventId,
  uniqueFlowId,
  uniqueKeyId,
  uniqueSessionId,
  uniqueSignInId,
  uniqueText,
  uniqueWebhookId,
} from "./unique.ts";

/** When sessions, flows and sign-ins expire, in milliseconds: 5 minutes after the start of a test clock. @internal */
export const deadline = 300_000;

/** Creates an active key with the limits of its tier. @internal */
export const makeKey = (scope: DataScope, parts: Partial<ApiKey> = {}): ApiKey => ({
  id: uniqueKeyId(),
  name: "Test key",
  scope,
  tier: "free",
  kind: "normal",
  access: "full",
  status: "active",
  suspended: false,
  expiresAt: null,
  limits: {},
  allowIps: [],
  denyIps: [],
  redirectOrigins: [],
  createdAt: 0,
  madeBy: null,
  ...parts,
});

/** Creates a pending session of the key, which any chat user may complete until `deadline`. @internal */
export const makeSession = (
  { id, scope }: Pick<ApiKey, "id" | "scope">,
  parts: Partial<VerificationSession> = {},
): VerificationSession => ({
  id: uniqueSessionId(),
  keyId: id,
  pid: scope.pid,
  clientId: "client",
  guildId: guildOf(scope),
  chatId: null,
  gameId: null,
  redirect: null,
  state: "pending",
  linkChanged: false,
  previousGameId: null,
  proof: null,
  error: null,
  createdAt: 0,
  expiresAt: deadline,
  completedAt: null,
  change: 1,
  ...parts,
});

/** Creates a flow without a session or a proof. @internal */
export const makeFlow = (scope: DataScope, parts: Partial<VerificationFlow> = {}): VerificationFlow => ({
  id: uniqueFlowId(),
  session: null,
  pid: scope.pid,
  guildId: guildOf(scope),
  redirect: null,
  chatId: null,
  gameId: null,
  gameProof: null,
  connections: [],
  named: null,
  wordSeed: "seed",
  seenVersion: null,
  expiresAt: deadline,
  ...parts,
});

/** Creates an unfinished sign-in to the dashboard. @internal */
export const makeBegunSignIn = (parts: Partial<BegunSignIn> = {}): BegunSignIn => ({
  stateHash: uniqueText(),
  site: "dashboard",
  expiresAt: deadline,
  ...parts,
});

/** Creates a sign-in to the dashboard. @internal */
export const makeSignIn = (parts: Partial<SiteSignIn> = {}): SiteSignIn => ({
  id: uniqueSignInId(),
  site: "dashboard",
  chatId: uniqueChatId(),
  account: null,
  guilds: null,
  device: "Firefox on Linux",
  createdAt: 0,
  expiresAt: deadline,
  ...parts,
});

/** Creates an active webhook for all events. @internal */
export const makeWebhook = (scope: DataScope, parts: Partial<Webhook> = {}): Webhook => ({
  id: uniqueWebhookId(),
  scope,
  url: "https://example.com/links",
  types: [],
  description: "",
  status: "active",
  disabledReason: null,
  createdAt: 0,
  lastDeliveredAt: null,
  failingSince: null,
  ...parts,
});

/** Creates a delivery that failed once. @internal */
export const makeDelivery = (parts: Partial<StoredDelivery> = {}): StoredDelivery => ({
  eventId: uniqueEventId(parts.at),
  position: 1,
  type: "link.set",
  at: 0,
  status: "failing",
  attempts: 1,
  resends: 0,
  responseStatus: 500,
  error: "status",
  nextAttemptAt: 5_000,
  attemptedAt: 0,
  answeredAt: 0,
  responseType: "text/plain",
  lanes: [],
  ...parts,
});
