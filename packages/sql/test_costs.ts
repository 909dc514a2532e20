/** For tests: the operations of the stores that read more than a few rows. */
import type { storageOperations } from "@accountlink/testing/conformance/commands";

type Reasons = Readonly<Partial<Record<keyof typeof storageOperations, string>>>;

/** Operations that work for the whole service, and what their cost follows from. */
export const wholeService: Reasons = {
  "AuditLog.forget": "lists: one node walks through them every ten minutes",
  "EventStore.sweep": "lists: one node walks through them every ten minutes",
  "WebhookStore.sweep": "webhooks with deliveries: one node walks through them every ten minutes",
  "ImportStore.sweep": "imports of the last day, every ten minutes",
  "UploadStore.sweep": "uploads of the last hour, every minute",
  "UploadStore.take": "uploads of the last hour, of which the nodes look for one that is free",
  "ImportStore.unfinishedUndos": "undone imports of the last day: the sample reads a page of 500",
  "UploadStore.begin": "uploads that wait, which share the room of the service",
  "DayCounts.load": "counters of the day, at the start of a node with a memory cache",
  "GuildLogStore.forget": "logs: one node walks through them every ten minutes",
  "PlanNoticeStore.due": "notices: the sample reads all that are due",
  "PlanNoticeStore.setProblems": "notices: the sample looks for its own among all that are unseen",
  "PlanNoticeStore.unseen": "notices: the sample reads all that are unseen",
  "RoleHistoryStore.reversals": "roles that are being put back, which the oldest node looks for",
  "SuspectStore.dueLinks": "new links: the sample reads all that are due",
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
  "WebhookStore.remove":
    "deliveries of the webhook, a hundred in a step, for which Postgres scans a table of some 500 pages",
  "RolePlanStore.status": "members of the plan who wait",
  "RolePlanStore.countNicknames": "nicknames of the plan",
  "RolePlanStore.putNicknamesBack": "nicknames of the plan",
  "RolePlanStore.remove": "members and problems of the plan",
  "RoleHistoryStore.countByRole": "changes of the plan",
  "RoleHistoryStore.progress": "reversals of the plan",
  "RoleHistoryStore.reverse": "reversals of the plan",
  "RoleHistoryStore.stop": "reversals of the plan",
  "RoleHistoryStore.toReverse": "reversals of the plan",
};

/** Operations that read no row: they insert what nobody else names. */
export const withoutSample: ReadonlySet<string> = new Set<keyof typeof storageOperations>([
  "SignInStore.begin",
]);
