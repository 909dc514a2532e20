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
import type { EventFields } from "@accountlink/core/journal";
import { keyRecords, keySecrets } from "@accountlink/core/keys";
import { reminders } from "@accountlink/core/reminders";
import { sessionBursts, verificationSessions } from "@accountlink/core/sessions";
import { communityRecord, communityRecords } from "@accountlink/core/storage";
import { deliveryRecord, webhookDeliveries, webhookRecords } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { Database } from "../database.ts";
import { kvTable } from "../record_tables.ts";
import { txOf } from "../records.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { carryOverPlans } from "./earlier_plans.ts";
import { type EarlierTables, importedLinkOf, pairOf, renamedTypes } from "./earlier_tables.ts";
import { accountPlace, journal, notePlace, placeAt, places, type StoredRecord } from "./journal.ts";
import { enterUnheld } from "./leases.ts";
import { moveEarlier } from "./move_earlier.ts";
import { accountAt, isCurrent } from "./scopes.ts";

const earlierLogs = table<EarlierTables["guild_log"]>()(
  "guild_log",
  ({ pid, guildId }) => [pid, guildId],
  {},
);

const put = (tx: Transaction, record: StoredRecord) =>
  Effect.andThen(tx.put(journal, record), notePlace(tx, record));

/** Does nothing if there is nothing of an earlier release. */
export const carryOver = Effect.fnUntraced(function* (db: Database) {
  yield* enterUnheld(db);
  for (const [name, type] of Object.entries(renamedTypes)) {
    yield* moveEarlier(db, name, (tx, record) => tx.put(kvTable(type), record));
  }
  yield* moveEarlier(
    db,
    "key",
    Effect.fnUntraced(function* (tx, { key, scope, wasSuspended, secrets, ...stored }) {
      const { status } = yield* accountAt(tx, scope.account);
      const suspended = wasSuspended ?? status === "suspended";
      yield* txOf(tx).put(keyRecords, { madeBy: null, ...key, ...stored, pid: scope.pid, suspended });
      const ofKey = secrets.map((secret) => ({ ...secret, keyId: key.id }));
      yield* txOf(tx).putAll(keySecrets, ofKey);
    }),
  );
  yield* moveEarlier(db, "member", (tx, member) =>
    tx.put(kvTable(memberRecords), { ...member, scopes: member.scopes ?? null }),
  );
  yield* moveEarlier(db, "session", (tx, { session, code, changedAt }) => {
    const { hash: codeHash = null, sealedSid = null } = code ?? {};
    return txOf(tx).put(verificationSessions, { ...session, changedAt, codeHash, sealedSid });
  });
  yield* moveEarlier(db, "burst", (tx, { key: keyId, fullAt }) =>
    txOf(tx).put(sessionBursts, { keyId, fullAt }),
  );
  yield* moveEarlier(db, "webhook", (tx, { webhook, scope: { pid }, position, holder }) =>
    txOf(tx).put(webhookRecords, { ...webhook, pid, position, holder }),
  );
  yield* moveEarlier(db, "community", (tx, { settings, ...community }) =>
    txOf(tx).put(communityRecords, communityRecord(community, community, settings)),
  );
  yield* carryOverPlans(db);
  yield* moveEarlier(
    db,
    "panel",
    Effect.fnUntraced(function* (tx, { pid, guildId, ...panel }) {
      const stored = yield* txOf(tx).get(communityRecords, pid, guildId);
      const made = stored ?? communityRecord({ pid, guildId });
      if (made.panels.some(({ channelId }) => channelId === panel.channelId)) return;
      yield* txOf(tx).put(communityRecords, { ...made, panels: [...made.panels, { text: null, ...panel }] });
    }),
  );
  yield* moveEarlier(db, "delivery", (tx, { webhook, delivery }) =>
    txOf(tx).put(webhookDeliveries, deliveryRecord(webhook, delivery)),
  );
  for (const name of ["review", "suspect"] as const) {
    yield* moveEarlier(
      db,
      name,
      Effect.fnUntraced(function* (tx, stored) {
        const { pid, review, suspect } = stored;
        if (!(yield* isCurrent(tx, stored))) return;
        const [, chatId, otherChatId] = reviewKey(pid, pairOf(stored));
        if (review) yield* txOf(tx).put(altReviews, { ...review, pid, chatId, otherChatId });
        if (suspect) yield* txOf(tx).put(altSuspects, { pid, ...suspect });
      }),
    );
  }
  yield* moveEarlier(
    db,
    "sighting",
    Effect.fnUntraced(function* (tx, stored) {
      const { pid, sighting, firstSeenAt } = stored;
      if (yield* isCurrent(tx, stored))
        yield* txOf(tx).put(sightingRecords, { ...sightingRecord(pid, sighting), firstSeenAt });
    }),
  );
  yield* moveEarlier(db, "event", (tx, { pid, event }) => {
    const { id, type, at, data, position } = event;
    const told = { id, fields: data as unknown as EventFields };
    const record = { at, action: type, actor: null, requestId: null, details: {}, event: told };
    return put(tx, { ...record, place: pid, sequence: position });
  });
  yield* moveEarlier(db, "audit", (tx, { account, pid, ...entry }) =>
    put(tx, { ...entry, place: pid ?? accountPlace(account), event: null }),
  );
  yield* moveEarlier(db, "import", (tx, { counts, files, account, ...one }) =>
    txOf(tx).put(uploads, {
      ...one,
      ...counts,
      account: one.phase === "reading" ? uploadOf(account) : account,
      size: Object.values(files).reduce((sum, { size }) => sum + size, 0),
    }),
  );
  yield* moveEarlier(
    db,
    "link_import",
    Effect.fnUntraced(function* (tx, { account: _, epoch, counts, undone, ...one }) {
      const endsAt = (yield* isCurrent(tx, { pid: one.pid, epoch })) ? one.endsAt : 0;
      const { entry: undoEntry, removed, restored } = undone ?? { entry: null, removed: 0, restored: 0 };
      const undo = { undoEntry, removed, restored, undoneAt: null };
      yield* txOf(tx).put(linkImports, { ...one, ...counts, endsAt, ...undo });
    }),
  );
  yield* moveEarlier(
    db,
    "made_link",
    Effect.fnUntraced(function* (tx, stored) {
      if (yield* isCurrent(tx, stored)) yield* txOf(tx).put(importedLinks, importedLinkOf(stored));
    }),
  );
  yield* moveEarlier(
    db,
    "part_of_file",
    (tx, { id, file, part, text }) => txOf(tx).put(uploadParts, { importId: id, file, part, content: text }),
    1,
  );
  yield* moveEarlier(db, "reminder", (tx, reminder) => txOf(tx).put(reminders, reminder));
  yield* moveEarlier(
    db,
    "log_entry",
    Effect.fnUntraced(function* (tx, { pid, guildId, time, id, entry, at }) {
      if ((yield* tx.get(earlierLogs, pid, guildId))?.time !== time) return;
      const { chatId } = entry;
      yield* txOf(tx).put(guildLogEntries, { logId: logIdOf({ pid, guildId }), id, chatId, entry, at });
    }),
  );
  yield* moveEarlier(
    db,
    "log_message",
    Effect.fnUntraced(function* (tx, { pid, guildId, ...message }) {
      const stored = { ...message, logId: logIdOf({ pid, guildId }) };
      yield* txOf(tx).put(guildLogMessages, stored);
      yield* txOf(tx).putAll(guildLogUsers, usersOfMessage(stored));
    }),
    // A message may name dozens of users.
    1,
  );
  yield* moveEarlier(
    db,
    "guild_log",
    (tx, { pid, guildId, channelId, position, problems, closedAt, holder }) => {
      const log = { pid, guildId, channelId, position, problems, closedAt, holder };
      return txOf(tx).put(guildLogs, { id: logIdOf(log), ...log });
    },
  );
  yield* moveEarlier(db, "guild_reminder", (tx, reminder) => txOf(tx).put(reminders, reminder));
  // Their users have no records, by which an erasure would find them. Nodes that wrote the form of today without such
  // records were never released; their previews end within a day.
  yield* moveEarlier(db, "preview", () => Effect.void);
  yield* moveEarlier(db, "feed", (tx, { pid, start, end }) =>
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
