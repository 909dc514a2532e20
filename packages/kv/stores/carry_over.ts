/**
 * Carries over what earlier releases stored: an audit log and a feed of events, with a record each for most changes, and
 * records in a form of their own. Events keep their positions.
 */

import { memberRecords } from "@accountlink/core/accounts";
import { altReviews, altSuspects, reviewKey, sightingRecord, sightingRecords } from "@accountlink/core/alts";
import {
  guildLogEntries,
  guildLogMessages,
  guildLogs,
  guildLogUsers,
  logIdOf,
  usersOfMessage,
} from "@accountlink/core/guild_log";
import { importedLinks, linkImports, uploadOf, uploadParts, uploads } from "@accountlink/core/imports";
import type { EventFields, JournalRecord } from "@accountlink/core/journal";
import { keyRecords, keySecrets } from "@accountlink/core/keys";
import { reminders } from "@accountlink/core/reminders";
import { sessionBursts, verificationSessions } from "@accountlink/core/sessions";
import { communityRecord, communityRecords } from "@accountlink/core/storage";
import { deliveryRecord, webhookDeliveries, webhookRecords } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { Database } from "../database.ts";
import { kvTable } from "../record_tables.ts";
import { txOf } from "../records.ts";
import { moveAll } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { carryOverPlans } from "./earlier_plans.ts";
import {
  earlierBursts,
  earlierCommunities,
  earlierDeliveries,
  earlierEntries,
  earlierEvents,
  earlierFeeds,
  earlierGuildReminders,
  earlierImports,
  earlierKeys,
  earlierLinkImports,
  earlierLogEntries,
  earlierLogs,
  earlierMadeLinks,
  earlierMembers,
  earlierMessages,
  earlierPanels,
  earlierParts,
  earlierPreviews,
  earlierReminders,
  earlierReviews,
  earlierSessions,
  earlierSightings,
  earlierSuspects,
  earlierWebhooks,
  importedLinkOf,
  pairOf,
  renamedTypes,
} from "./earlier_tables.ts";
import { accountPlace, earlier, journal, type Place, placeAt, places } from "./journal.ts";
import { accountAt, isCurrent } from "./scopes.ts";

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

/** Does nothing if there is nothing of an earlier release. */
export const carryOver = Effect.fnUntraced(function* (db: Database) {
  for (const [name, type] of Object.entries(renamedTypes)) {
    yield* moveAll(db, kvTable({ ...type, name }), (tx, record) => tx.put(kvTable(type), record));
  }
  yield* moveAll(
    db,
    earlierKeys,
    Effect.fnUntraced(function* (tx, { key, scope, wasSuspended, secrets, ...stored }) {
      const { status } = yield* accountAt(tx, scope.account);
      const suspended = wasSuspended ?? status === "suspended";
      yield* txOf(tx).put(keyRecords, { madeBy: null, ...key, ...stored, pid: scope.pid, suspended });
      const ofKey = secrets.map((secret) => ({ ...secret, keyId: key.id }));
      yield* txOf(tx).putAll(keySecrets, ofKey);
    }),
  );
  yield* moveAll(db, earlierMembers, (tx, member) =>
    tx.put(kvTable(memberRecords), { ...member, scopes: member.scopes ?? null }),
  );
  yield* moveAll(db, earlierSessions, (tx, { session, code, changedAt }) => {
    const { hash: codeHash = null, sealedSid = null } = code ?? {};
    return txOf(tx).put(verificationSessions, { ...session, changedAt, codeHash, sealedSid });
  });
  yield* moveAll(db, earlierBursts, (tx, { key: keyId, fullAt }) =>
    txOf(tx).put(sessionBursts, { keyId, fullAt }),
  );
  yield* moveAll(db, earlierWebhooks, (tx, { webhook, scope: { pid }, position, holder }) =>
    txOf(tx).put(webhookRecords, { ...webhook, pid, position, holder }),
  );
  yield* moveAll(db, earlierCommunities, (tx, { settings, ...community }) =>
    txOf(tx).put(communityRecords, communityRecord(community, community, settings)),
  );
  yield* carryOverPlans(db);
  yield* moveAll(
    db,
    earlierPanels,
    Effect.fnUntraced(function* (tx, { pid, guildId, ...panel }) {
      const stored = yield* txOf(tx).get(communityRecords, pid, guildId);
      const made = stored ?? communityRecord({ pid, guildId });
      if (made.panels.some(({ channelId }) => channelId === panel.channelId)) return;
      yield* txOf(tx).put(communityRecords, { ...made, panels: [...made.panels, { text: null, ...panel }] });
    }),
  );
  yield* moveAll(db, earlierDeliveries, (tx, { webhook, delivery }) =>
    txOf(tx).put(webhookDeliveries, deliveryRecord(webhook, delivery)),
  );
  for (const from of [earlierReviews, earlierSuspects]) {
    yield* moveAll(
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
  yield* moveAll(
    db,
    earlierSightings,
    Effect.fnUntraced(function* (tx, stored) {
      const { pid, sighting, firstSeenAt } = stored;
      if (yield* isCurrent(tx, stored))
        yield* txOf(tx).put(sightingRecords, { ...sightingRecord(pid, sighting), firstSeenAt });
    }),
  );
  yield* moveAll(db, earlierEvents, (tx, { pid, event }) => {
    const { id, type, at, data, position } = event;
    const told = { id, fields: data as unknown as EventFields };
    const record = { at, action: type, actor: null, requestId: null, details: {}, event: told };
    return put(tx, pid, position, record, ({ end, oldestEvent }) => ({
      end: Math.max(end, position),
      oldestEvent: earlier(oldestEvent, at),
    }));
  });
  yield* moveAll(
    db,
    earlierEntries,
    (tx, { sequence, at, actor, requestId, account, pid, action, details }) =>
      put(
        tx,
        pid ?? accountPlace(account),
        sequence,
        { at, action, actor, requestId, details, event: null },
        ({ oldestEntry }) => ({ oldestEntry: earlier(oldestEntry, at) }),
      ),
  );
  yield* moveAll(db, earlierImports, (tx, { counts, files, account, ...one }) =>
    txOf(tx).put(uploads, {
      ...one,
      ...counts,
      account: one.phase === "reading" ? uploadOf(account) : account,
      size: Object.values(files).reduce((sum, { size }) => sum + size, 0),
    }),
  );
  yield* moveAll(
    db,
    earlierLinkImports,
    Effect.fnUntraced(function* (tx, { account: _, epoch, counts, undone, ...one }) {
      const endsAt = (yield* isCurrent(tx, { pid: one.pid, epoch })) ? one.endsAt : 0;
      const { entry: undoEntry, removed, restored } = undone ?? { entry: null, removed: 0, restored: 0 };
      yield* txOf(tx).put(linkImports, { ...one, ...counts, endsAt, undoEntry, removed, restored });
    }),
  );
  yield* moveAll(
    db,
    earlierMadeLinks,
    Effect.fnUntraced(function* (tx, stored) {
      if (yield* isCurrent(tx, stored)) yield* txOf(tx).put(importedLinks, importedLinkOf(stored));
    }),
  );
  yield* moveAll(
    db,
    earlierParts,
    (tx, { id, file, part, text }) => txOf(tx).put(uploadParts, { importId: id, file, part, content: text }),
    1,
  );
  yield* moveAll(db, earlierReminders, (tx, reminder) => txOf(tx).put(reminders, reminder));
  yield* moveAll(
    db,
    earlierLogEntries,
    Effect.fnUntraced(function* (tx, { pid, guildId, time, id, entry, at }) {
      if ((yield* tx.get(earlierLogs, pid, guildId))?.time !== time) return;
      const { chatId } = entry;
      yield* txOf(tx).put(guildLogEntries, { logId: logIdOf({ pid, guildId }), id, chatId, entry, at });
    }),
  );
  yield* moveAll(
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
  yield* moveAll(db, earlierLogs, (tx, { pid, guildId, channelId, position, problems, closedAt, holder }) => {
    const log = { pid, guildId, channelId, position, problems, closedAt, holder };
    return txOf(tx).put(guildLogs, { id: logIdOf(log), ...log });
  });
  yield* moveAll(db, earlierGuildReminders, (tx, reminder) => txOf(tx).put(reminders, reminder));
  // Their users have no records, by which an erasure would find them. Nodes that wrote the form of today without such
  // records were never released; their previews end within a day.
  yield* moveAll(db, earlierPreviews, () => Effect.void);
  yield* moveAll(db, earlierFeeds, (tx, { pid, start, end }) =>
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
