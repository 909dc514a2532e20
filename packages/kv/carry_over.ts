/** Carries over the records that builds of an earlier schema stored in another form. */
import { memberRecords } from "@accountlink/core/accounts";
import { placeOf, type Sighting } from "@accountlink/core/addresses";
import { sightingRecord, sightingRecords } from "@accountlink/core/alts";
import type { RecordOf, RecordType } from "@accountlink/core/records";
import type { Millis } from "@accountlink/core/timestamp";
import { usageDays, usageMeters } from "@accountlink/core/usage";
import { Effect } from "effect";
import type { Database } from "./database.ts";
import { kvTable, txOf } from "./records.ts";
import { moveAll } from "./steps.ts";
import { isCurrent, type OfEpoch } from "./stores/scopes.ts";
import { table } from "./table.ts";

/** Types of records that only had another name. */
const renamedTypes: Readonly<Record<string, RecordType>> = { usage: usageDays, meter: usageMeters };

/** Members of earlier releases may lack `scopes`. */
const earlierMembers = table<RecordOf<typeof memberRecords>>()(
  "member",
  ({ account, chatId }) => [account, chatId],
  {},
);

interface EarlierSighting extends OfEpoch {
  readonly sighting: Sighting;
  readonly firstSeenAt: Millis;
}

const earlierSightings = table<EarlierSighting>()(
  "sighting",
  ({ pid, sighting }) => [pid, sighting.chatId, placeOf(sighting)],
  {},
);

/** Does nothing if there is nothing of an earlier schema. `moveAll` drops entries of indexes, which the tables do not name. */
export const carryOver = Effect.fnUntraced(function* (db: Database) {
  for (const [name, type] of Object.entries(renamedTypes)) {
    yield* moveAll(db, kvTable({ ...type, name }), (tx, record) => tx.put(kvTable(type), record));
  }
  yield* moveAll(db, earlierMembers, (tx, member) =>
    tx.put(kvTable(memberRecords), { ...member, scopes: member.scopes ?? null }),
  );
  yield* moveAll(
    db,
    earlierSightings,
    Effect.fnUntraced(function* (tx, stored) {
      const { pid, sighting, firstSeenAt } = stored;
      if (yield* isCurrent(tx, stored))
        yield* txOf(tx).put(sightingRecords, { ...sightingRecord(pid, sighting), firstSeenAt });
    }),
  );
});
