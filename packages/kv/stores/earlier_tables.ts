/** What earlier releases stored in another form. */
import type { ChatId, KeyId, Pid, VerificationSession } from "@accountlink/core";
import type { memberRecords } from "@accountlink/core/accounts";
import { placeOf, type Sighting } from "@accountlink/core/addresses";
import type { AltPair, AltReview, Suspect } from "@accountlink/core/alts";
import type { AuditEntry } from "@accountlink/core/audit";
import type { Community, CommunityPlace, CommunitySettings, Linking } from "@accountlink/core/communities";
import type { FeedEvent } from "@accountlink/core/events";
import { signInChallenges, verificationFlows } from "@accountlink/core/flow";
import type { guildLogMessages, guildLogs, WaitingEntry } from "@accountlink/core/guild_log";
import type {
  BatchImported,
  ImportedLink,
  linkImports,
  StoredImport,
  uploads,
} from "@accountlink/core/imports";
import { type KeyRecord, type keySecrets, suspendedOwners } from "@accountlink/core/keys";
import { dayCounts } from "@accountlink/core/limits";
import type { Link, LinkRecord } from "@accountlink/core/links";
import type { RecordOf, RecordType } from "@accountlink/core/records";
import type { ClaimReminder } from "@accountlink/core/reminders";
import type { PlanPlace } from "@accountlink/core/roles";
import type { StoredCode } from "@accountlink/core/secrets";
import { begunSignIns, siteSignIns } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import { usageDays, usageMeters } from "@accountlink/core/usage";
import type { StoredDelivery, WebhookId, webhookRecords } from "@accountlink/core/webhooks";
import type { Tuple } from "../keys.ts";
import { type Table, table } from "../table.ts";
import type { OfEpoch, ScopeRef } from "./scopes.ts";

/** A table without its indexes, whose entries `moveAll` drops. */
export const earlierTable = <R>(name: string, id: (record: R) => Tuple): Table<R> => table<R>()(name, id, {});

interface EarlierCommunity extends CommunityPlace, Linking, Pick<Community, "panels"> {
  /** Settings that an earlier release did not have are left out. */
  readonly settings: Partial<CommunitySettings>;
}

export const earlierCommunities = earlierTable<EarlierCommunity>("community", ({ pid, guildId }) => [
  pid,
  guildId,
]);

/** The last panel of a channel. */
interface EarlierPanel extends CommunityPlace {
  readonly channelId: string;
  readonly messageId: string;
}

export const earlierPanels = earlierTable<EarlierPanel>("panel", ({ pid, guildId, channelId }) => [
  pid,
  guildId,
  channelId,
]);

export const earlierPreviews = earlierTable<PlanPlace>("preview", ({ pid, guildId }) => [pid, guildId]);

interface EarlierWebhook {
  readonly webhook: Omit<RecordOf<typeof webhookRecords>, "pid" | "position" | "holder">;
  readonly scope: ScopeRef;
  readonly position: number;
  readonly holder: string | null;
}

export const earlierWebhooks = earlierTable<EarlierWebhook>("webhook", ({ webhook }) => [webhook.id]);

interface EarlierDelivery {
  readonly webhook: WebhookId;
  readonly delivery: StoredDelivery;
}

export const earlierDeliveries = earlierTable<EarlierDelivery>("delivery", ({ webhook, delivery }) => [
  webhook,
  delivery.eventId,
]);

interface EarlierLog
  extends PlanPlace,
    Pick<RecordOf<typeof guildLogs>, "channelId" | "position" | "closedAt" | "problems" | "holder"> {
  readonly edits: number;
  /** Entries of earlier times are deleted. */
  readonly time: number;
}

export const earlierLogs = earlierTable<EarlierLog>("guild_log", ({ pid, guildId }) => [pid, guildId]);

interface EarlierLogEntry extends WaitingEntry, PlanPlace {
  readonly time: number;
}

export const earlierLogEntries = earlierTable<EarlierLogEntry>("log_entry", ({ pid, guildId, time, id }) => [
  pid,
  guildId,
  time,
  id,
]);

interface EarlierMessage extends PlanPlace, Omit<RecordOf<typeof guildLogMessages>, "logId"> {}

export const earlierMessages = earlierTable<EarlierMessage>("log_message", ({ pid, guildId, messageId }) => [
  pid,
  guildId,
  messageId,
]);

interface EarlierImport
  extends StoredImport,
    Pick<RecordOf<typeof uploads>, "holder" | "heldUntil" | "begunAt" | "expiresAt"> {
  readonly files: Readonly<Record<string, { readonly parts: number; readonly size: number }>>;
}

export const earlierImports = earlierTable<EarlierImport>("import", ({ id }) => [id]);

interface EarlierLinkImport
  extends Pick<RecordOf<typeof linkImports>, "id" | "pid" | "name" | "importedAt" | "endsAt" | "entry"> {
  readonly account: number;
  readonly epoch: number;
  readonly counts: BatchImported;
  readonly undone: { readonly entry: number; readonly removed: number; readonly restored: number } | null;
}

export const earlierLinkImports = earlierTable<EarlierLinkImport>("link_import", ({ id }) => [id]);

interface EarlierMadeLink extends OfEpoch {
  readonly id: string;
  readonly chatId: ChatId;
  readonly made: Pick<Link, "gameId" | "linkVersion" | "lastVerifiedAt">;
  readonly before?: Pick<LinkRecord, "gameId" | "lastVerifiedAt" | "proof" | "provenAt"> & {
    readonly linkedAt?: Millis;
  };
}

export const earlierMadeLinks = earlierTable<EarlierMadeLink>("made_link", ({ pid, epoch, id, chatId }) => [
  pid,
  epoch,
  id,
  chatId,
]);

export const importedLinkOf = ({ id, chatId, made, before }: EarlierMadeLink): ImportedLink => ({
  importId: id,
  chatId,
  gameId: made.gameId,
  linkVersion: made.linkVersion,
  verifiedAt: made.lastVerifiedAt,
  previousGameId: before?.gameId ?? null,
  previousLinkedAt: before?.linkedAt ?? null,
  previousVerifiedAt: before?.lastVerifiedAt ?? null,
  previousProof: before?.proof ?? null,
  previousProvenAt: before?.provenAt ?? null,
});

interface EarlierPart {
  readonly id: string;
  readonly file: string;
  readonly part: number;
  readonly text: string;
}

export const earlierParts = earlierTable<EarlierPart>("part_of_file", ({ id, file, part }) => [
  id,
  file,
  part,
]);

interface EarlierEntry extends Omit<AuditEntry, "account"> {
  readonly account: number;
}

interface EarlierEvent {
  readonly pid: Pid;
  readonly event: Omit<FeedEvent, "entry">;
}

interface EarlierFeed {
  readonly pid: Pid;
  readonly start: number;
  readonly end: number;
}

export const earlierEntries = earlierTable<EarlierEntry>("audit", ({ account, sequence }) => [
  account,
  sequence,
]);

export const earlierEvents = earlierTable<EarlierEvent>("event", ({ pid, event }) => [pid, event.position]);

export const earlierFeeds = earlierTable<EarlierFeed>("feed", ({ pid }) => [pid]);

interface EarlierSession {
  readonly session: VerificationSession;
  readonly code?: StoredCode;
  readonly changedAt: Millis | null;
}

export const earlierSessions = earlierTable<EarlierSession>("session", ({ session }) => [session.id]);

interface EarlierBurst {
  readonly key: KeyId;
  readonly fullAt: Millis;
}

export const earlierBursts = earlierTable<EarlierBurst>("burst", ({ key }) => [key]);

interface EarlierPair extends OfEpoch {
  readonly review?: AltReview;
  readonly suspect?: Suspect;
}

export const pairOf = ({ review, suspect }: EarlierPair) => (review ?? suspect) as AltPair;

const usersOfPair = (stored: EarlierPair) => [pairOf(stored).chatId, pairOf(stored).otherChatId];

export const earlierReviews = earlierTable<EarlierPair>("review", (stored) => [
  stored.pid,
  ...usersOfPair(stored).toSorted(),
]);

export const earlierSuspects = earlierTable<EarlierPair>("suspect", (stored) => [
  stored.pid,
  stored.epoch,
  ...usersOfPair(stored),
]);

interface EarlierSighting extends OfEpoch {
  readonly sighting: Sighting;
  readonly firstSeenAt: Millis;
}

export const earlierSightings = earlierTable<EarlierSighting>("sighting", ({ pid, sighting }) => [
  pid,
  sighting.chatId,
  placeOf(sighting),
]);

/** A key with its secrets, the newest last. Keys of the first releases lack `madeBy`. */
interface EarlierKey extends Pick<KeyRecord, "counts" | "revokedAt"> {
  readonly key: Omit<KeyRecord, "pid" | "suspended" | "counts" | "revokedAt" | "madeBy"> &
    Partial<Pick<KeyRecord, "madeBy">>;
  readonly scope: ScopeRef;
  /** Whether the account was suspended when the key was revoked. */
  readonly wasSuspended?: boolean;
  readonly secrets: ReadonlyArray<Pick<RecordOf<typeof keySecrets>, "hash" | "endsAt">>;
}

export const earlierKeys = earlierTable<EarlierKey>("key", ({ key }) => [key.id]);

/** Members of earlier releases may lack `scopes`. */
export const earlierMembers = earlierTable<RecordOf<typeof memberRecords>>(
  "member",
  ({ account, chatId }) => [account, chatId],
);

/** Types of records that only had another name. */
export const renamedTypes: Readonly<Record<string, RecordType>> = {
  flow: verificationFlows,
  challenge: signInChallenges,
  sign_in: siteSignIns,
  begun_sign_in: begunSignIns,
  day_count: dayCounts,
  usage: usageDays,
  meter: usageMeters,
  suspended: suspendedOwners,
};

export const earlierReminders = earlierTable<ClaimReminder>("reminder", ({ pid, guildId, hash }) => [
  pid,
  guildId,
  hash,
]);

export const earlierGuildReminders = earlierTable<ClaimReminder>("guild_reminder", ({ guildId, hash }) => [
  guildId,
  hash,
]);
