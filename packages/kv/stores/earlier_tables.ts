/** What earlier releases stored in another form. */
import type { Pid } from "@accountlink/core";
import type { AltPair, AltReview, Suspect } from "@accountlink/core/alts";
import type { AuditEntry } from "@accountlink/core/audit";
import type { Community, CommunityPlace, CommunitySettings, Linking } from "@accountlink/core/communities";
import type { FeedEvent } from "@accountlink/core/events";
import { signInChallenges, verificationFlows } from "@accountlink/core/flow";
import type { guildLogMessages, guildLogs, WaitingEntry } from "@accountlink/core/guild_log";
import type { StoredImport, uploads } from "@accountlink/core/imports";
import { dayCounts } from "@accountlink/core/limits";
import type { RecordOf, RecordType } from "@accountlink/core/records";
import type { ClaimReminder } from "@accountlink/core/reminders";
import type { PlanPlace, StoredPreview } from "@accountlink/core/roles";
import { begunSignIns, siteSignIns } from "@accountlink/core/sign_ins";
import { usageDays, usageMeters } from "@accountlink/core/usage";
import type { StoredDelivery, WebhookId, webhookRecords } from "@accountlink/core/webhooks";
import { table } from "../table.ts";
import type { OfEpoch, ScopeRef } from "./scopes.ts";

interface EarlierCommunity extends CommunityPlace, Linking, Pick<Community, "panels"> {
  /** Settings that an earlier release did not have are left out. */
  readonly settings: Partial<CommunitySettings>;
}

export const earlierCommunities = table<EarlierCommunity>()(
  "community",
  ({ pid, guildId }) => [pid, guildId],
  {
    byPauser: { keys: ({ paused, pid, guildId }) => [[paused?.by?.id ?? "", pid, guildId]] },
    reminding: { keys: ({ pid, guildId }) => [[pid, guildId]] },
  },
);

/** The last panel of a channel. */
interface EarlierPanel extends CommunityPlace {
  readonly channelId: string;
  readonly messageId: string;
}

export const earlierPanels = table<EarlierPanel>()(
  "panel",
  ({ pid, guildId, channelId }) => [pid, guildId, channelId],
  {},
  2,
);

interface EarlierPreview extends PlanPlace, Pick<StoredPreview, "savedAt"> {}

export const earlierPreviews = table<EarlierPreview>()("preview", ({ pid, guildId }) => [pid, guildId], {
  byTime: { keys: ({ pid, guildId, savedAt }) => [[savedAt, pid, guildId]] },
});

interface EarlierWebhook {
  readonly webhook: Omit<RecordOf<typeof webhookRecords>, "pid" | "position" | "holder">;
  readonly scope: ScopeRef;
  readonly position: number;
  readonly holder: string | null;
}

export const earlierWebhooks = table<EarlierWebhook>()("webhook", ({ webhook }) => [webhook.id], {
  byScope: { keys: ({ webhook, scope }) => [[scope.pid, webhook.id]] },
  byAccount: { keys: ({ webhook, scope }) => [[scope.account, webhook.createdAt, webhook.id]] },
  byTime: { keys: ({ webhook }) => [[webhook.createdAt, webhook.id]] },
  byHolder: { keys: ({ webhook, holder }) => [[holder ?? "", webhook.id]] },
});

interface EarlierDelivery {
  readonly webhook: WebhookId;
  readonly delivery: StoredDelivery;
}

const placeOfDelivery = ({ webhook, delivery }: EarlierDelivery) => [webhook, delivery.eventId];

/** Entries that a delivery has only while it is sent or waits are removed even if it has none. */
export const earlierDeliveries = table<EarlierDelivery>()("delivery", placeOfDelivery, {
  tried: {
    keys: ({ webhook, delivery: { status, eventId } }) => [
      [webhook, status, eventId],
      [webhook, "any", eventId],
    ],
  },
  pending: { keys: ({ webhook, delivery: { at, eventId } }) => [[webhook, at, eventId]] },
  due: {
    keys: ({ webhook, delivery: { nextAttemptAt, eventId } }) => [[webhook, nextAttemptAt ?? 0, eventId]],
  },
  lanes: {
    keys: ({ webhook, delivery: { lanes, position, eventId } }) =>
      lanes.map((lane) => [webhook, lane, position ?? 0, eventId]),
  },
  byTime: { keys: ({ webhook, delivery }) => [[delivery.at, webhook, delivery.eventId]] },
});

interface EarlierLog
  extends PlanPlace,
    Pick<RecordOf<typeof guildLogs>, "channelId" | "position" | "closedAt" | "problems" | "holder"> {
  readonly edits: number;
  /** Entries of earlier times are deleted. */
  readonly time: number;
}

export const earlierLogs = table<EarlierLog>()("guild_log", ({ pid, guildId }) => [pid, guildId], {
  byHolder: { keys: ({ holder, pid, guildId }) => [[holder ?? "", pid, guildId]] },
});

interface EarlierLogEntry extends WaitingEntry, PlanPlace {
  readonly time: number;
}

const placeOfEntry = ({ pid, guildId, time, id }: EarlierLogEntry) => [pid, guildId, time, id];

export const earlierLogEntries = table<EarlierLogEntry>()("log_entry", placeOfEntry, {
  byUser: { keys: (stored) => [[stored.entry.chatId, ...placeOfEntry(stored)]] },
});

interface EarlierMessage extends PlanPlace, Omit<RecordOf<typeof guildLogMessages>, "logId"> {}

export const earlierMessages = table<EarlierMessage>()(
  "log_message",
  ({ pid, guildId, messageId }) => [pid, guildId, messageId],
  {
    byUser: {
      keys: ({ pid, guildId, messageId, lines }) =>
        [...new Set(lines.flatMap(({ chatIds }) => chatIds))].map((id) => [id, pid, guildId, messageId]),
    },
    edits: { keys: ({ pid, guildId, messageId, editAt }) => [[pid, guildId, editAt ?? 0, messageId]] },
    byTime: { keys: ({ pid, guildId, messageId, at }) => [[pid, guildId, at, messageId]] },
  },
);

interface EarlierImport
  extends StoredImport,
    Pick<RecordOf<typeof uploads>, "holder" | "heldUntil" | "begunAt" | "expiresAt"> {
  readonly files: Readonly<Record<string, { readonly parts: number; readonly size: number }>>;
}

export const earlierImports = table<EarlierImport>()("import", ({ id }) => [id], {
  byAccount: { keys: ({ id, account }) => [[account, id]] },
  running: { keys: ({ id, pid, heldUntil }) => [[heldUntil, id, pid ?? ""]] },
  ofScope: { keys: ({ id, pid }) => [[pid ?? "", id]] },
  byEnd: { keys: ({ id, expiresAt }) => [[expiresAt, id]] },
});

interface EarlierPart {
  readonly id: string;
  readonly file: string;
  readonly part: number;
  readonly text: string;
}

export const earlierParts = table<EarlierPart>()(
  "part_of_file",
  ({ id, file, part }) => [id, file, part],
  {},
);

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

const texts = (...values: ReadonlyArray<unknown>): ReadonlyArray<string> => [
  ...new Set(values.filter((value) => typeof value === "string")),
];

const keysOf = ({ actor, details }: EarlierEntry) =>
  texts(details["keyId"], actor.type === "key" ? actor.id : null);

const usersOf = ({ details }: EarlierEntry) =>
  texts(details["chatId"], details["newChatId"], details["otherChatId"]);

export const earlierEntries = table<EarlierEntry>()("audit", ({ account, sequence }) => [account, sequence], {
  byTime: { keys: ({ at, account, sequence }) => [[at, account, sequence]] },
  byUser: {
    keys: (entry) => {
      const { actor, account, sequence } = entry;
      const by = actor.type === "account" ? actor.member : actor.type === "user" ? actor.id : null;
      return texts(...usersOf(entry), by).map((id) => [id, account, sequence]);
    },
    group: 1,
  },
  byActor: {
    keys: ({ actor, account, sequence }) => (actor.type === "account" ? [[actor.id, account, sequence]] : []),
    group: 1,
  },
  selected: {
    keys: (entry) => {
      const users = usersOf(entry);
      const by = users.length === 0 && entry.actor.type === "user" ? [entry.actor.id] : users;
      return [
        `action:${entry.action}`,
        ...by.map((id) => `user:${id}`),
        ...keysOf(entry).map((id) => `key:${id}`),
      ].map((about) => [entry.account, about, entry.sequence]);
    },
  },
});

const usersIn = ({ event: { data } }: EarlierEvent) => {
  const { chatId, previousChatId } = data as Readonly<Record<string, unknown>>;
  return texts(chatId, previousChatId);
};

export const earlierEvents = table<EarlierEvent>()("event", ({ pid, event }) => [pid, event.position], {
  byTime: { keys: ({ pid, event }) => [[event.at, pid, event.position]] },
  byType: { keys: ({ pid, event }) => [[pid, event.type, event.position]] },
  byUser: {
    keys: (stored) =>
      stored.event.type === "user.erased"
        ? []
        : usersIn(stored).map((id) => [id, stored.pid, stored.event.position]),
    group: 1,
  },
  erasures: {
    keys: (stored) =>
      stored.event.type === "user.erased" && usersIn(stored).length > 0
        ? [[stored.event.at, stored.pid, stored.event.position]]
        : [],
  },
});

export const earlierFeeds = table<EarlierFeed>()("feed", ({ pid }) => [pid], {});

interface EarlierPair extends OfEpoch {
  readonly review?: AltReview;
  readonly suspect?: Suspect;
}

export const pairOf = ({ review, suspect }: EarlierPair) => (review ?? suspect) as AltPair;

const usersOfPair = (stored: EarlierPair) => [pairOf(stored).chatId, pairOf(stored).otherChatId];

export const earlierReviews = table<EarlierPair>()(
  "review",
  (stored) => [stored.pid, ...usersOfPair(stored).toSorted()],
  {
    byUser: {
      keys: (stored) => usersOfPair(stored).map((id) => [id, stored.pid, ...usersOfPair(stored).toSorted()]),
    },
    byScope: { keys: (stored) => [[stored.pid, stored.epoch, ...usersOfPair(stored).toSorted()]] },
  },
);

const suspectKey = (stored: EarlierPair) => [stored.pid, stored.epoch, ...usersOfPair(stored)];

export const earlierSuspects = table<EarlierPair>()("suspect", suspectKey, {
  newest: {
    keys: (stored) => [[stored.pid, stored.epoch, -(stored.suspect?.at ?? 0), ...usersOfPair(stored)]],
  },
  byUser: { keys: (stored) => usersOfPair(stored).map((id) => [id, ...suspectKey(stored)]) },
  byTime: { keys: (stored) => [[stored.suspect?.at ?? 0, ...suspectKey(stored)]] },
});

/** Types of records that only had another name. */
export const renamedTypes: Readonly<Record<string, RecordType>> = {
  flow: verificationFlows,
  challenge: signInChallenges,
  sign_in: siteSignIns,
  begun_sign_in: begunSignIns,
  day_count: dayCounts,
  usage: usageDays,
  meter: usageMeters,
};

export const earlierReminders = table<ClaimReminder>()(
  "reminder",
  ({ pid, guildId, hash }) => [pid, guildId, hash],
  {
    byTime: { keys: ({ pid, guildId, at, hash }) => [[pid, guildId, at, hash]], group: 2 },
  },
);

export const earlierGuildReminders = table<ClaimReminder>()(
  "guild_reminder",
  ({ guildId, hash }) => [guildId, hash],
  {
    byTime: { keys: ({ guildId, at, hash }) => [[guildId, at, hash]] },
  },
);
