/** What earlier releases stored in another form. */
import type { ChatId, KeyId, Pid, VerificationSession } from "@accountlink/core";
import type { memberRecords } from "@accountlink/core/accounts";
import type { Sighting } from "@accountlink/core/addresses";
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
import type {
  PlanMember,
  PlanPlace,
  PlanProblem,
  PlanRecord,
  PlanSettings,
  RoleRule,
  Sweep,
} from "@accountlink/core/roles";
import type { StoredCode } from "@accountlink/core/secrets";
import { begunSignIns, siteSignIns } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import { usageDays, usageMeters } from "@accountlink/core/usage";
import type { StoredDelivery, WebhookId, webhookRecords } from "@accountlink/core/webhooks";
import type { OfEpoch, ScopeRef } from "./scopes.ts";

/** Records by the names of their tables. */
export interface EarlierTables {
  readonly audit: Omit<AuditEntry, "account"> & { readonly account: number };
  readonly burst: { readonly key: KeyId; readonly fullAt: Millis };
  readonly community: EarlierCommunity;
  readonly delivery: { readonly webhook: WebhookId; readonly delivery: StoredDelivery };
  readonly event: { readonly pid: Pid; readonly event: Omit<FeedEvent, "entry"> };
  readonly feed: { readonly pid: Pid; readonly start: number; readonly end: number };
  readonly guild_log: EarlierLog;
  readonly guild_reminder: ClaimReminder;
  readonly import: EarlierImport;
  readonly key: EarlierKey;
  readonly link_import: EarlierLinkImport;
  readonly log_entry: PlanPlace & WaitingEntry & { readonly time: number };
  readonly log_message: PlanPlace & Omit<RecordOf<typeof guildLogMessages>, "logId">;
  readonly made_link: EarlierMadeLink;
  /** May lack `scopes`. */
  readonly member: RecordOf<typeof memberRecords>;
  /** The last panel of a channel. */
  readonly panel: CommunityPlace & { readonly channelId: string; readonly messageId: string };
  readonly part_of_file: EarlierPart;
  readonly plan: EarlierPlan;
  readonly plan_member: EarlierPlanMember;
  readonly plan_problem: EarlierProblems;
  readonly preview: PlanPlace;
  readonly problems: EarlierProblems;
  readonly reminder: ClaimReminder;
  readonly review: EarlierPair;
  readonly session: EarlierSession;
  readonly sighting: OfEpoch & { readonly sighting: Sighting; readonly firstSeenAt: Millis };
  readonly suspect: EarlierPair;
  readonly webhook: EarlierWebhook;
}

interface EarlierCommunity extends CommunityPlace, Linking, Pick<Community, "panels"> {
  /** Settings that an earlier release did not have are left out. */
  readonly settings: Partial<CommunitySettings>;
}

interface EarlierWebhook {
  readonly webhook: Omit<RecordOf<typeof webhookRecords>, "pid" | "position" | "holder">;
  readonly scope: ScopeRef;
  readonly position: number;
  readonly holder: string | null;
}

interface EarlierLog
  extends PlanPlace,
    Pick<RecordOf<typeof guildLogs>, "channelId" | "position" | "closedAt" | "problems" | "holder"> {
  readonly edits: number;
  /** Entries of earlier times are deleted. */
  readonly time: number;
}

interface EarlierImport
  extends StoredImport,
    Pick<RecordOf<typeof uploads>, "holder" | "heldUntil" | "begunAt" | "expiresAt"> {
  readonly files: Readonly<Record<string, { readonly parts: number; readonly size: number }>>;
}

interface EarlierLinkImport
  extends Pick<RecordOf<typeof linkImports>, "id" | "pid" | "name" | "importedAt" | "endsAt" | "entry"> {
  readonly account: number;
  readonly epoch: number;
  readonly counts: BatchImported;
  readonly undone: { readonly entry: number; readonly removed: number; readonly restored: number } | null;
}

interface EarlierMadeLink extends OfEpoch {
  readonly id: string;
  readonly chatId: ChatId;
  readonly made: Pick<Link, "gameId" | "linkVersion" | "lastVerifiedAt">;
  readonly before?: Pick<LinkRecord, "gameId" | "lastVerifiedAt" | "proof" | "provenAt"> & {
    readonly linkedAt?: Millis;
  };
}

interface EarlierPart {
  readonly id: string;
  readonly file: string;
  readonly part: number;
  readonly text: string;
}

interface EarlierSession {
  readonly session: VerificationSession;
  readonly code?: StoredCode;
  readonly changedAt: Millis | null;
}

interface EarlierPair extends OfEpoch {
  readonly review?: AltReview;
  readonly suspect?: Suspect;
}

/** A key with its secrets, the newest last. Keys of the first releases lack `madeBy`. */
interface EarlierKey extends Pick<KeyRecord, "counts" | "revokedAt"> {
  readonly key: Omit<KeyRecord, "pid" | "suspended" | "counts" | "revokedAt" | "madeBy"> &
    Partial<Pick<KeyRecord, "madeBy">>;
  readonly scope: ScopeRef;
  /** Whether the account was suspended when the key was revoked. */
  readonly wasSuspended?: boolean;
  readonly secrets: ReadonlyArray<Pick<RecordOf<typeof keySecrets>, "hash" | "endsAt">>;
}

export interface EarlierPlan extends PlanPlace {
  readonly scope: ScopeRef;
  /** The number of the plan, which a later plan of the place did not get. */
  readonly ref: number;
  readonly settings: Omit<PlanSettings, "rules" | "bypassRoleIds" | "nicknameBypassRoleIds"> &
    Partial<Pick<PlanSettings, "bypassRoleIds" | "nicknameBypassRoleIds">> & {
      readonly rules: ReadonlyArray<Pick<RoleRule, "roleId" | "when"> & Partial<RoleRule>>;
      readonly bypassRoleId?: string | null;
      readonly logChannelId?: string | null;
    };
  readonly position: number;
  readonly revision: number;
  readonly sweptAt: number | null;
  readonly sweep: (Sweep & { readonly startedAt: number }) | null;
  readonly holder: string | null;
  readonly changedDays?: PlanRecord["changedDays"];
  readonly puttingBackSince?: number;
  /** Null while the plan is on, and if it was never on. */
  readonly pausedAt?: number | null;
}

interface EarlierPlanMember extends Pick<PlanMember, "pid" | "guildId" | "chatId" | "mark" | "nickname"> {
  readonly ref: number;
  readonly waits: { readonly since: number; readonly dueAt: number } | null;
  readonly replaced?: { readonly nickname: string | null; readonly at: number };
}

/** The problems of a member or of a plan, in the two tables that releases had. */
interface EarlierProblems extends PlanPlace {
  readonly ref: number;
  readonly chatId: ChatId | "";
  readonly problems: ReadonlyArray<PlanProblem>;
}

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

export const pairOf = ({ review, suspect }: EarlierPair) => (review ?? suspect) as AltPair;
