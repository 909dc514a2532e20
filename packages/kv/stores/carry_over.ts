/**
 * Carries over what earlier releases stored: an audit log and a feed of events, with a record each for most changes, and
 * records in a form of their own. Events keep their positions.
 */

import { altReviews, altSuspects, reviewKey } from "@accountlink/core/alts";
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
import { reminders } from "@accountlink/core/reminders";
import { communityRecord, communityRecords } from "@accountlink/core/storage";
import { deliveryRecord, webhookDeliveries, webhookRecords } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { Tuple } from "../keys.ts";
import { kvTable, txOf } from "../records.ts";
import { isFull, stepSize } from "../steps.ts";
import type { Table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";
import {
  type EarlierPlan,
  earlierCommunities,
  earlierDeliveries,
  earlierEntries,
  earlierEvents,
  earlierFeeds,
  earlierGuildReminders,
  earlierImports,
  earlierLogEntries,
  earlierLogs,
  earlierMessages,
  earlierPanels,
  earlierParts,
  earlierPreviews,
  earlierProblems,
  earlierReminders,
  earlierReviews,
  earlierSuspects,
  earlierWebhooks,
  pairOf,
  renamedTypes,
} from "./earlier_tables.ts";
import { linkImports } from "./import_records.ts";
import { accountPlace, earlier, journal, type Place, placeAt, places } from "./journal.ts";
import { isOn, planProblems, plans } from "./role_plans.ts";
import { isCurrent } from "./scopes.ts";

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

/** Gives a record its places in indexes that an earlier release did not have. */
const reindex = <R>(db: Database, of: Table<R>, ...id: Tuple) =>
  db.write("carry over", function* (tx) {
    const removed = yield* tx.remove(of, ...id);
    if (removed !== undefined) yield* tx.put(of, removed);
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

/** Gives communities that only their plans know records of their own, and those that remind their place in the index. */
const carryOverPlans = Effect.fnUntraced(function* (db: Database) {
  const communities = kvTable(communityRecords);
  const reminding = yield* db.read((tx) => tx.list(communities.reminding, []));
  const isListed = new Set(reminding.map(({ pid, guildId }) => `${pid} ${guildId}`));
  for (let after: Tuple | undefined; ; ) {
    const range = { limit: 500, ...(after !== undefined && { after }) };
    const page = yield* db.read((tx) => tx.scan(plans, [], range));
    const known = yield* db.read((tx) => tx.getAll(communities, page, plans.id));
    for (const plan of page.filter((_, index) => known[index] === undefined)) {
      yield* db.write("carry over", (tx) => txOf(tx).put(communityRecords, communityOfPlan(plan)));
    }
    for (const { pid, guildId, settings } of known.filter((each) => each !== undefined)) {
      if (settings.remindAfterDays === null || isListed.has(`${pid} ${guildId}`)) continue;
      yield* reindex(db, communities, pid, guildId);
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = plans.id(last);
  }
});

/** Does nothing if there is nothing of an earlier release. */
export const carryOver = Effect.fnUntraced(function* (db: Database) {
  for (const [name, type] of Object.entries(renamedTypes)) {
    yield* move(db, kvTable({ ...type, name }), (tx, record) => tx.put(kvTable(type), record));
  }
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
  // An undo of an earlier release has no place in its index.
  for (const { id, undone } of yield* db.read((tx) => tx.list(linkImports.byEnd, []))) {
    if (undone !== null && undone.isDone === undefined) yield* reindex(db, linkImports, id);
  }
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
  // Their users have no records, by which an erasure would find them.
  yield* move(db, earlierPreviews, () => Effect.void);
  // A member may have dozens of problems.
  yield* move(db, earlierProblems, (tx, problems) => tx.put(planProblems, problems), 1);
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
