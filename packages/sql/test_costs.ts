/** For tests: the operations of the stores that read more than a few rows. */
import type { storageOperations } from "@accountlink/testing/conformance/commands";

type Reasons = Readonly<Partial<Record<keyof typeof storageOperations, string>>>;

/** Operations that work for the whole service, and what their cost follows from. */
export const wholeService: Reasons = {
  "AuditLog.forget": "lists: one node walks through them every ten minutes",
  "EventStore.sweep": "lists: one node walks through them every ten minutes",
  "WebhookStore.sweep": "webhooks, every ten minutes",
  "ImportStore.sweep": "imports of the last day, every ten minutes",
  "UploadStore.sweep": "uploads of the last hour, every minute",
  "UploadStore.take": "uploads of the last hour, of which the nodes look for one that is free",
  "ImportStore.listUnfinishedUndos": "undone imports of the last day",
  "UploadStore.begin": "uploads that wait, which share the room of the service",
  "DayCounts.load": "counters of the day, at the start of a node with a memory cache",
  "GuildLogStore.hold": "logs, which the nodes share",
  "RoleHistoryStore.reversals": "roles that are being put back, which the oldest node looks for",
  "RolePlanStore.hold": "role plans, which the nodes share",
  "WebhookStore.hold": "webhooks, which the nodes share",
  "KeyStore.listAccounts": "accounts: the operator lists them",
  "SightingStore.countByKey": "sightings: the operator rotates address keys",
};

/** Operations that read every record of a kind that one subject has, and which records these are. */
export const wholeSubject: Reasons = {
  "LinkStore.countWays": "links of the scope",
  "LinkStore.deleteScope": "all records of the scope, in steps",
  "BlockStore.count": "blocks of the scope",
  "BlockStore.set": "blocks of the scope, which have a limit",
  "SightingStore.reprotect": "the sightings of a step",
  "SightingStore.countUsers": "sightings at the places",
  "SuspectStore.add": "suspects of the scope, which have a limit",
  "SuspectStore.find": "suspects of the scope since a time",
  "IdempotencyStore.sweep": "the expired keys of a step",
  "UsageStore.daysByKey": "days of the account's keys",
  "WebhookStore.remove": "deliveries of the webhook",
  "RolePlanStore.status": "members of the plan who wait",
  "RolePlanStore.countNicknames": "nicknames of the plan",
  "RolePlanStore.keptNicknames": "nicknames of the plan, which Postgres sorts where it takes them for few",
  "RolePlanStore.putNicknamesBack": "nicknames of the plan",
  "RolePlanStore.remove": "members and problems of the plan",
  "RoleHistoryStore.countByRole": "changes of the plan",
  "RoleHistoryStore.progress": "reversals of the plan",
  "RoleHistoryStore.stop": "reversals of the plan",
  "RoleHistoryStore.toReverse": "reversals of the plan",
};

/**
 * Operations that find no row of the plan tests: nothing there waits, is over or is undone, no hash of a block is known, the
 * chat users are no members of the plan, and uploads are left out as tables of few rows. Any other operation has to find one.
 */
export const withoutSample: ReadonlySet<string> = new Set<keyof typeof storageOperations>([
  "LinkStore.newestPage",
  "UploadStore.append",
  "UploadStore.readPart",
  "UploadStore.find",
  "UploadStore.save",
  "UploadStore.start",
  "UploadStore.remove",
  "RootKeyStore.find",
  "SignInStore.begin",
  "SessionStore.changedSince",
  "SuspectStore.forget",
  "BlockStore.removals",
  "BlockStore.findHashes",
  "BlockStore.page",
  "BlockStore.ofUser",
  "BlockStore.remove",
  "UserStore.unfinished",
  "WebhookStore.findDelivery",
  "CommunityStore.pausedBy",
  "RolePlanStore.keptNickname",
  "RolePlanStore.dropNickname",
  "RolePlanStore.puttingBack",
  "RolePlanStore.forgetNicknames",
  "RolePlanStore.due",
  "ReminderStore.reminded",
  "RolePlanStore.nicknames",
  "RolePlanStore.endPuttingBack",
  "RoleHistoryStore.forget",
  "PreviewStore.forget",
  "PlanNoticeStore.due",
  "GuildLogStore.dueEdits",
]);
