/**
 * Carries over what earlier releases stored: an audit log and a feed of events, with a record each for most changes, and
 * records in a form of their own. Events keep their positions.
 */
import type { Pid } from "@accountlink/core";
import {
  type AltPair,
  type AltReview,
  altReviews,
  altSuspects,
  reviewKey,
  type Suspect,
} from "@accountlink/core/alts";
import type { AuditEntry } from "@accountlink/core/audit";
import { communityRecord, communityRecords } from "@accountlink/core/communities";
import type { FeedEvent } from "@accountlink/core/events";
import { signInChallenges, verificationFlows } from "@accountlink/core/flow";
import {
  guildLogEntries,
  guildLogMessages,
  guildLogs,
  guildLogUsers,
  logIdOf,
  usersOfMessage,
} from "@accountlink/core/guild_log";
import { uploadOf, uploadParts, uploads } from "@accountlink/core/imports";
import type { EventFields, JournalRecord } from "@accountlink/core/journal";
import { dayCounts } from "@accountlink/core/limits";
import { type ClaimReminder, reminders } from "@accountlink/core/reminders";
import { rolePreviews } from "@accountlink/core/roles";
import { begunSignIns, siteSignIns } from "@accountlink/core/sign_ins";
import { deliveryRecord, webhookDeliveries, webhookRecords } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { Tuple } from "../keys.ts";
import { kvTable, txOf } from "../records.ts";
import { isFull, stepSize } from "../steps.ts";
import { type Table, table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";
import {
  type EarlierPlan,
  earlierCommunities,
  earlierDeliveries,
  earlierImports,
  earlierLogEntries,
  earlierLogs,
  earlierMessages,
  earlierPanels,
  earlierParts,
  earlierPreviews,
  earlierProblems,
  earlierWebhooks,
} from "./earlier_tables.ts";
import { accountPlace, earlier, journal, type Place, placeAt, places } from "./journal.ts";
import { isOn, planProblems, plans, settingsOf } from "./role_plans.ts";
import { isCurrent, type OfEpoch } from "./scopes.ts";

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

const earlierEntries = table<EarlierEntry>()("audit", ({ account, sequence }) => [account, sequence], {
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

const earlierEvents = table<EarlierEvent>()("event", ({ pid, event }) => [pid, event.position], {
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

const earlierFeeds = table<EarlierFeed>()("feed", ({ pid }) => [pid], {});

interface EarlierPair extends OfEpoch {
  readonly review?: AltReview;
  readonly suspect?: Suspect;
}

const pairOf = ({ review, suspect }: EarlierPair) => (review ?? suspect) as AltPair;

const usersOfPair = (stored: EarlierPair) => [pairOf(stored).chatId, pairOf(stored).otherChatId];

const earlierReviews = table<EarlierPair>()(
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

const earlierSuspects = table<EarlierPair>()("suspect", suspectKey, {
  newest: {
    keys: (stored) => [[stored.pid, stored.epoch, -(stored.suspect?.at ?? 0), ...usersOfPair(stored)]],
  },
  byUser: { keys: (stored) => usersOfPair(stored).map((id) => [id, ...suspectKey(stored)]) },
  byTime: { keys: (stored) => [[stored.suspect?.at ?? 0, ...suspectKey(stored)]] },
});

const earlierFlows = kvTable({ ...verificationFlows, name: "flow" });
const earlierChallenges = kvTable({ ...signInChallenges, name: "challenge" });
const earlierSignIns = kvTable({ ...siteSignIns, name: "sign_in" });
const earlierBegunSignIns = kvTable({ ...begunSignIns, name: "begun_sign_in" });

const earlierReminders = table<ClaimReminder>()(
  "reminder",
  ({ pid, guildId, hash }) => [pid, guildId, hash],
  {
    byTime: { keys: ({ pid, guildId, at, hash }) => [[pid, guildId, at, hash]], group: 2 },
  },
);

const earlierGuildReminders = table<ClaimReminder>()(
  "guild_reminder",
  ({ guildId, hash }) => [guildId, hash],
  {
    byTime: { keys: ({ guildId, at, hash }) => [[guildId, at, hash]] },
  },
);

const earlierDayCounts = kvTable({ ...dayCounts, name: "day_count" });

const put = Effect.fnUntraced(function* (
  tx: Transaction,
  name: string,
  sequence: number,
  record: JournalRecord,
  change: (place: Place) => Partial<Place>,
) {
  yield* tx.put(journal, { ...record, place: name, sequence });
  const place = yield* placeAt(tx, name);
  yield* tx.put(places, { ...place, last: Math.max(place.last, sequence), ...change(place) });
});

/** Moves all records of a table in small transactions. */
const move = Effect.fnUntraced(function* <R>(
  db: Database,
  from: Table<R>,
  store: (tx: Transaction, record: R) => Effect.Effect<void, Effect.Error<ReturnType<typeof put>>>,
  limit = stepSize,
) {
  for (;;) {
    const found = yield* db.read((tx) => tx.scan(from, [], { limit }));
    if (found.length === 0) return;
    yield* db.write("carry over", function* (tx) {
      for (const record of found) {
        if (isFull(tx)) return;
        const removed = yield* tx.remove(from, ...from.id(record));
        if (removed !== undefined) yield* store(tx, removed);
      }
    });
  }
});

/** The community of an earlier plan. Nobody knows who paused the plan. */
const communityOfPlan = (plan: EarlierPlan) => {
  const { sweep, sweptAt, pausedAt = null, settings } = plan;
  const homeSince = isOn(plan) ? (sweep?.startedAt ?? sweptAt ?? 0) : pausedAt;
  const paused = isOn(plan) || pausedAt === null ? null : { at: pausedAt, why: null, by: null };
  return communityRecord(
    plan,
    { homeSince, paused, panels: [] },
    { logChannelId: settings.logChannelId ?? null },
  );
};

/** Gives communities that only their plans know records of their own. */
const carryOverPlans = Effect.fnUntraced(function* (db: Database) {
  const communities = kvTable(communityRecords);
  for (let after: Tuple | undefined; ; ) {
    const range = { limit: 500, ...(after !== undefined && { after }) };
    const page = yield* db.read((tx) => tx.scan(plans, [], range));
    const known = yield* db.read((tx) => tx.getAll(communities, page, plans.id));
    for (const plan of page.filter((_, index) => known[index] === undefined)) {
      yield* db.write("carry over", (tx) => txOf(tx).put(communityRecords, communityOfPlan(plan)));
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = plans.id(last);
  }
});

/** Does nothing if there is nothing of an earlier release. */
export const carryOver = Effect.fnUntraced(function* (db: Database) {
  yield* move(db, earlierFlows, (tx, flow) => tx.put(kvTable(verificationFlows), flow));
  yield* move(db, earlierChallenges, (tx, challenge) => tx.put(kvTable(signInChallenges), challenge));
  yield* move(db, earlierSignIns, (tx, signIn) => tx.put(kvTable(siteSignIns), signIn));
  yield* move(db, earlierBegunSignIns, (tx, begun) => tx.put(kvTable(begunSignIns), begun));
  yield* move(db, earlierWebhooks, (tx, { webhook, scope: { pid }, position, holder }) =>
    txOf(tx).put(webhookRecords, { ...webhook, pid, position, holder }),
  );
  yield* move(db, earlierCommunities, (tx, { settings, ...community }) =>
    txOf(tx).put(communityRecords, communityRecord(community, community, settings)),
  );
  yield* carryOverPlans(db);
  yield* move(
    db,
    earlierPanels,
    Effect.fnUntraced(function* (tx, { pid, guildId, ...panel }) {
      const stored = yield* txOf(tx).get(communityRecords, pid, guildId);
      const made = stored ?? communityRecord({ pid, guildId });
      if (made.panels.some(({ channelId }) => channelId === panel.channelId)) return;
      yield* txOf(tx).put(communityRecords, { ...made, panels: [...made.panels, { text: null, ...panel }] });
    }),
  );
  yield* move(db, earlierDeliveries, (tx, { webhook, delivery }) =>
    txOf(tx).put(webhookDeliveries, deliveryRecord(webhook, delivery)),
  );
  for (const from of [earlierReviews, earlierSuspects]) {
    yield* move(
      db,
      from,
      Effect.fnUntraced(function* (tx, stored) {
        const { pid, review, suspect } = stored;
        if (!(yield* isCurrent(tx, stored))) return;
        const [, chatId, otherChatId] = reviewKey(pid, pairOf(stored));
        if (review) yield* txOf(tx).put(altReviews, { ...review, pid, chatId, otherChatId });
        if (suspect) yield* txOf(tx).put(altSuspects, { pid, ...suspect });
      }),
    );
  }
  yield* move(db, earlierEvents, (tx, { pid, event }) => {
    const { id, type, at, data, position } = event;
    const told = { id, fields: data as unknown as EventFields };
    const record = { at, action: type, actor: null, requestId: null, details: {}, event: told };
    return put(tx, pid, position, record, ({ end, oldestEvent }) => ({
      end: Math.max(end, position),
      oldestEvent: earlier(oldestEvent, at),
    }));
  });
  yield* move(db, earlierEntries, (tx, { sequence, at, actor, requestId, account, pid, action, details }) =>
    put(
      tx,
      pid ?? accountPlace(account),
      sequence,
      { at, action, actor, requestId, details, event: null },
      ({ oldestEntry }) => ({ oldestEntry: earlier(oldestEntry, at) }),
    ),
  );
  yield* move(db, earlierImports, (tx, { counts, files, account, ...one }) =>
    txOf(tx).put(uploads, {
      ...one,
      ...counts,
      account: one.phase === "reading" ? uploadOf(account) : account,
      size: Object.values(files).reduce((sum, { size }) => sum + size, 0),
    }),
  );
  yield* move(
    db,
    earlierParts,
    (tx, { id, file, part, text }) => txOf(tx).put(uploadParts, { importId: id, file, part, content: text }),
    1,
  );
  yield* move(db, earlierReminders, (tx, reminder) => txOf(tx).put(reminders, reminder));
  yield* move(
    db,
    earlierLogEntries,
    Effect.fnUntraced(function* (tx, { pid, guildId, time, id, entry, at }) {
      if ((yield* tx.get(earlierLogs, pid, guildId))?.time !== time) return;
      const { chatId } = entry;
      yield* txOf(tx).put(guildLogEntries, { logId: logIdOf({ pid, guildId }), id, chatId, entry, at });
    }),
  );
  yield* move(
    db,
    earlierMessages,
    Effect.fnUntraced(function* (tx, { pid, guildId, ...message }) {
      const stored = { ...message, logId: logIdOf({ pid, guildId }) };
      yield* txOf(tx).put(guildLogMessages, stored);
      yield* txOf(tx).putAll(guildLogUsers, usersOfMessage(stored));
    }),
    // A message may name dozens of users.
    1,
  );
  yield* move(db, earlierLogs, (tx, { pid, guildId, channelId, position, problems, closedAt, holder }) => {
    const log = { pid, guildId, channelId, position, problems, closedAt, holder };
    return txOf(tx).put(guildLogs, { id: logIdOf(log), ...log });
  });
  yield* move(db, earlierGuildReminders, (tx, reminder) => txOf(tx).put(reminders, reminder));
  yield* move(db, earlierPreviews, (tx, { preview, ...stored }) => {
    const settings = settingsOf(preview.settings);
    return txOf(tx).put(rolePreviews, { ...stored, id: preview.id, preview: { ...preview, settings } });
  });
  // A member may have dozens of problems.
  yield* move(db, earlierProblems, (tx, problems) => tx.put(planProblems, problems), 1);
  yield* move(db, earlierDayCounts, (tx, count) => tx.put(kvTable(dayCounts), count));
  yield* move(db, earlierFeeds, (tx, { pid, start, end }) =>
    Effect.flatMap(placeAt(tx, pid), (place) =>
      tx.put(places, {
        ...place,
        last: Math.max(place.last, end),
        start: Math.max(place.start, start),
        end: Math.max(place.end, end),
      }),
    ),
  );
});
