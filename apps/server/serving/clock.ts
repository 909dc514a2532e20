/** Compares this machine's clock with the storage's: deadlines are written by one node and read by another. */
import { StorageUse } from "@accountlink/core";
import { Effect, Metric, Schedule } from "effect";

/** How far clocks may be apart, in milliseconds. */
const allowed = 5_000;

const lead = Metric.gauge("accountlink_clock_lead_seconds", {
  description: "How far the clock of the storage is ahead of this node's; negative if behind",
});

/** Compares at the start and each minute, and says when the clocks come apart and when they agree again. */
export const watchClock = Effect.gen(function* () {
  const { clockLead } = yield* StorageUse;
  let wereApart = false;
  const compare = Effect.gen(function* () {
    const found = yield* clockLead;
    yield* Metric.update(lead, found / 1_000);
    const areApart = Math.abs(found) > allowed;
    if (areApart === wereApart) return;
    wereApart = areApart;
    const seconds = Math.round(found / 1_000);
    yield* Effect.annotateLogs(
      areApart
        ? Effect.logWarning(
            "The clock of this node differs from the storage's, expected both set by NTP: sessions and limits end at the wrong time",
          )
        : Effect.logInfo("The clock of this node agrees with the storage's again"),
      { storageAheadBySeconds: seconds },
    );
  });
  yield* Effect.repeat(Effect.ignore(compare), Schedule.spaced("1 minute")).pipe(Effect.forkScoped);
});
