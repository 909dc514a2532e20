/** What the stores keep, and by which keys they find it. */
import type { ChatId, DataScope, KeyId, Pid } from "@accountlink/core";
import { guildOf } from "@accountlink/core";
import { placeOf, type Sighting } from "@accountlink/core/addresses";
import type { AltReview } from "@accountlink/core/alts";
import { type AuditEntry, usersOf } from "@accountlink/core/audit";
import type { FeedEvent } from "@accountlink/core/events";
import type { SignInChallenge, VerificationFlow } from "@accountlink/core/flow";
import type { NewClaim } from "@accountlink/core/idempotency";
import type { FlowId, SessionId, SignInId } from "@accountlink/core/ids";
import type { Account, ScopeSettings, StoredKey } from "@accountlink/core/keys";
import type { LinkRecord } from "@accountlink/core/links";
import type { StoredCode } from "@accountlink/core/secrets";
import { isFinal, type VerificationSession } from "@accountlink/core/sessions";
import type { BegunSignIn, SiteSignIn } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import type { KeyUsage, UsagePeriod } from "@accountlink/core/usage";
import { erasedMark } from "@accountlink/core/users";
import {
  isPending,
  type StoredDelivery,
  type StoredWebhook,
  type WebhookId,
} from "@accountlink/core/webhooks";
import { collection } from "./collection.ts";

export const accounts = collection<Account, [name: string], "chat">("account", {
  id: ({ name }) => [name],
  indexes: { chat: ({ chatId }) => (chatId === null ? [] : [[chatId]]) },
});

export const scopes = collection<DataScope, [pid: Pid], "target">("scope", {
  id: ({ pid }) => [pid],
  indexes: { target: (scope) => [[scope.account, guildOf(scope) ?? "global"]] },
});

export const settings = collection<{ readonly pid: Pid; readonly settings: ScopeSettings }, [pid: Pid]>(
  "scope-settings",
  { id: ({ pid }) => [pid] },
);

export const keys = collection<StoredKey, [id: KeyId], "account">("key", {
  id: ({ key }) => [key.id],
  indexes: { account: ({ key }) => [[key.scope.account]] },
});

/** Whose secret a hash is. It never changes. */
export const secrets = collection<{ readonly hash: string; readonly keyId: KeyId }, [hash: string]>(
  "secret",
  { id: ({ hash }) => [hash] },
);

export const links = collection<
  { readonly pid: Pid; readonly record: LinkRecord },
  [pid: Pid, chatId: ChatId],
  "game" | "chat" | "verified"
>("link", {
  id: ({ pid, record }) => [pid, record.chatId],
  indexes: {
    game: ({ pid, record: { gameId, linkedAt } }) => (gameId === null ? [] : [[pid, gameId, -linkedAt]]),
    chat: ({ record }) => [[record.chatId]],
    verified: ({ pid, record: { gameId, lastVerifiedAt } }) =>
      gameId === null ? [] : [[pid, -lastVerifiedAt]],
  },
});

/** How many links a scope has, in all and of those last verified on a UTC day, by its start. */
export const linkCounts = collection<
  { readonly pid: Pid; readonly of: "all" | Millis; readonly links: number },
  [pid: Pid, of: "all" | Millis]
>("link-count", { id: ({ pid, of }) => [pid, of] });

export const importProgress = collection<
  { readonly source: string; readonly position: number; readonly savedAt: Millis },
  [source: string],
  "saved"
>("import", { id: ({ source }) => [source], indexes: { saved: ({ savedAt }) => [[savedAt]] } });

export const entries = collection<AuditEntry, [sequence: number], "account" | "time" | "user">("entry", {
  id: ({ sequence }) => [sequence],
  indexes: {
    account: ({ account, sequence }) => [[account, -sequence]],
    time: ({ at }) => [[at]],
    user: (entry) => usersOf(entry).map((chatId) => [entry.account, chatId, -entry.sequence]),
  },
});

export const events = collection<
  { readonly pid: Pid; readonly event: FeedEvent },
  [pid: Pid, position: number],
  "time" | "erasure"
>("event", {
  id: ({ pid, event }) => [pid, event.position],
  indexes: {
    time: ({ event }) => [[event.at]],
    erasure: ({ event }) =>
      event.type === "user.erased" && event.data.chatId !== erasedMark ? [[event.at]] : [],
  },
});

/** The position of the last event of a scope that was deleted. */
export const feedStarts = collection<{ readonly pid: Pid; readonly position: number }, [pid: Pid]>(
  "feed-start",
  { id: ({ pid }) => [pid] },
);

export interface StoredSession {
  readonly session: VerificationSession;
  readonly changedAt: Millis | null;
  readonly code: StoredCode | null;
}

export const sessions = collection<
  StoredSession,
  [id: SessionId],
  "open" | "chat" | "changed" | "deadline" | "code"
>("session", {
  id: ({ session }) => [session.id],
  indexes: {
    code: ({ session: { state }, code }) => (code === null || isFinal(state) ? [] : [[code.hash]]),
    open: ({ session: { state, pid } }) => (isFinal(state) ? [] : [[pid]]),
    chat: ({ session: { chatId } }) => (chatId === null ? [] : [[chatId]]),
    changed: ({ changedAt }) => (changedAt === null ? [] : [[changedAt]]),
    deadline: ({ session: { state, expiresAt } }) => [[isFinal(state) ? "final" : "open", expiresAt]],
  },
});

/** When the burst of a key is full again. */
export const bursts = collection<{ readonly keyId: KeyId; readonly fullAt: Millis }, [id: KeyId]>("burst", {
  id: ({ keyId }) => [keyId],
});

export const flows = collection<VerificationFlow, [id: FlowId], "proven" | "chat" | "deadline">("flow", {
  id: ({ id }) => [id],
  indexes: {
    proven: ({ pid, chatId }) => (chatId === null ? [] : [[pid, chatId]]),
    chat: ({ chatId }) => (chatId === null ? [] : [[chatId]]),
    deadline: ({ expiresAt }) => [[expiresAt]],
  },
});

export const challenges = collection<SignInChallenge, [stateHash: string], "flow">("challenge", {
  id: ({ stateHash }) => [stateHash],
  indexes: { flow: ({ flow }) => [[flow]] },
});

export const sightings = collection<
  { readonly pid: Pid; readonly sighting: Sighting },
  [pid: Pid, chatId: ChatId, place: string],
  "place" | "chat" | "seen"
>("sighting", {
  id: ({ pid, sighting }) => [pid, sighting.chatId, placeOf(sighting)],
  indexes: {
    place: ({ pid, sighting }) => [[pid, placeOf(sighting), -sighting.seenAt]],
    chat: ({ sighting: { chatId } }) => [[chatId]],
    seen: ({ sighting: { seenAt } }) => [[seenAt]],
  },
});

/** How many chat users were seen in a place, an address or a browser. */
export const placeUsers = collection<
  { readonly pid: Pid; readonly place: string; readonly users: number },
  [pid: Pid, place: string]
>("place", { id: ({ pid, place }) => [pid, place] });

export const reviews = collection<
  { readonly pid: Pid; readonly review: AltReview },
  [pid: Pid, one: ChatId, other: ChatId],
  "chat"
>("review", {
  id: ({ pid, review }) => reviewId(pid, review),
  indexes: {
    chat: ({ pid, review: { chatId, otherChatId } }) => [
      [chatId, pid],
      [otherChatId, pid],
    ],
  },
});

/** A pair has no order. */
export const reviewId = (
  pid: Pid,
  { chatId, otherChatId }: Pick<AltReview, "chatId" | "otherChatId">,
): [Pid, ChatId, ChatId] => (chatId < otherChatId ? [pid, chatId, otherChatId] : [pid, otherChatId, chatId]);

export const signIns = collection<SiteSignIn, [id: SignInId], "chat" | "deadline">("sign-in", {
  holdsAnyText: true,
  id: ({ id }) => [id],
  indexes: {
    chat: ({ chatId, site, createdAt }) => [[chatId, site, -createdAt]],
    deadline: ({ expiresAt }) => [[expiresAt]],
  },
});

export const begunSignIns = collection<BegunSignIn, [stateHash: string], "deadline">("begun-sign-in", {
  id: ({ stateHash }) => [stateHash],
  indexes: { deadline: ({ expiresAt }) => [[expiresAt]] },
});

/** A request under an idempotency key. */
export interface IdempotentRequest extends Omit<NewClaim, "at" | "heldUntil"> {
  readonly answer: string | null;
  /** Null if it holds its key to its end, as one does that has an answer or is erased. */
  readonly heldUntil: Millis | null;
  readonly isErased: boolean;
}

export const requests = collection<IdempotentRequest, [id: string], "chat" | "deadline">("request", {
  id: ({ id }) => [id],
  indexes: {
    chat: ({ chatIds }) => [...new Set(chatIds)].map((chatId) => [chatId]),
    deadline: ({ endsAt }) => [[endsAt]],
  },
});

export const nodes = collection<{ readonly nodeId: string; readonly until: Millis }, [nodeId: string]>(
  "node",
  {
    id: ({ nodeId }) => [nodeId],
  },
);

export const windows = collection<
  { readonly key: string; readonly endsAt: Millis; readonly counted: number },
  [endsAt: Millis, key: string]
>("window", { id: ({ endsAt, key }) => [endsAt, key] });

export const usage = collection<KeyUsage & UsagePeriod, [key: KeyId, from: Millis, group: string], "day">(
  "usage",
  {
    id: ({ key, from, group }) => [key, from, group],
    indexes: { day: ({ from }) => [[from]] },
  },
);

export const meters = collection<
  { readonly meter: string; readonly sequence: number; readonly day: Millis },
  [meter: string],
  "day"
>("meter", { id: ({ meter }) => [meter], indexes: { day: ({ day }) => [[day]] } });

export const rootKeys = collection<{ readonly id: "root"; readonly wrapped: string }, [id: "root"]>(
  "secret-root",
  {
    id: ({ id }) => [id],
  },
);

/** A webhook with where it stands, and which node sends it; null for none. */
export interface KvWebhook {
  readonly webhook: StoredWebhook;
  readonly position: number;
  readonly holder: string | null;
}

export const webhooks = collection<KvWebhook, [id: WebhookId], "scope">("webhook", {
  id: ({ webhook }) => [webhook.id],
  indexes: { scope: ({ webhook }) => [[webhook.scope.pid]] },
});

/** A node that sends webhooks, and until when it counts as alive. */
export interface WebhookNode {
  readonly nodeId: string;
  readonly until: Millis;
}

export const webhookNodes = collection<WebhookNode, [nodeId: string]>("webhook-node", {
  id: ({ nodeId }) => [nodeId],
});

export const deliveries = collection<
  { readonly webhookId: WebhookId; readonly delivery: StoredDelivery },
  [webhookId: WebhookId, eventId: string],
  "newest" | "pending" | "due" | "lane"
>("delivery", {
  id: ({ webhookId, delivery }) => [webhookId, delivery.eventId],
  indexes: {
    newest: ({ webhookId, delivery: { eventId, status } }) =>
      status === "waiting" ? [] : ["any", status].map((each) => [webhookId, each, newestFirst(eventId)]),
    pending: ({ webhookId, delivery }) => (isPending(delivery) ? [[webhookId, delivery.at]] : []),
    due: ({ webhookId, delivery: { nextAttemptAt } }) =>
      nextAttemptAt === null ? [] : [[webhookId, nextAttemptAt]],
    lane: ({ webhookId, delivery: { lanes, position } }) =>
      lanes.map((lane) => [webhookId, lane, position ?? 0]),
  },
});

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Text that sorts the ids of events backwards, whose ULIDs sort by time. */
export const newestFirst = (eventId: string): string =>
  Array.from(eventId.slice(4), (digit) => digits[digits.length - 1 - digits.indexOf(digit)]).join("");
