/**
 * A failover of Postgres to its synchronous standby, under clients that write and read.
 */

import { StorageSql } from "@accountlink/storage-sql";
import { startPostgresWithStandby } from "@accountlink/test-servers";
import { Effect, Fiber, Random, Redacted, Schedule } from "effect";
import { expect, test } from "vitest";
import { makeWorld } from "../support/world.ts";
import { isRight } from "./fault_run.ts";
import { type Entry, fixtureWithGameUsers, makeHistory } from "./history.ts";
import { checkHistory } from "./history_check.ts";
import { feelPulse, longestPulse } from "./pulse.ts";
import { startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const account = "writers";
const clientCount = 6;
const longestRecovery = 2_000;
/** How much is written and read before. */
const answersBefore = 300;
/** How long the standby does not hear of what the primary does. */
const standbyBehind = "300 millis";

const countOf = (entries: ReadonlyArray<Entry>, kind: Entry["outcome"]["kind"]) =>
  entries.filter(({ outcome }) => outcome.kind === kind).length;

/** How long after a moment the last request ended that was not answered as it should be, or only then. */
const recoveryAfter = (moment: number, entries: ReadonlyArray<Entry>): number =>
  entries
    .filter(({ ended }) => ended >= moment)
    .filter((entry) => !isRight(entry) || entry.ended - entry.called > longestRecovery)
    .reduce((longest, { ended }) => Math.max(longest, ended - moment), 0);

test.skipIf(missing !== null)(
  `a failover to the synchronous standby takes nothing back that was answered ${missing ?? ""}`,
  () =>
    Effect.gen(function* () {
      const world = makeWorld();
      const history = makeHistory(world.key({ account }));
      const { primary, standby, replication } = yield* startPostgresWithStandby;
      const { nodes } = yield* startService({ fixture: fixtureWithGameUsers(world), postgres: primary });
      const pulse = yield* feelPulse(nodes);
      let isWanted = true;
      const clients = yield* Effect.forEach(Array.from({ length: clientCount }).keys(), (client) =>
        history
          .client(client, nodes, () => isWanted)
          .pipe(Random.withSeed(`client ${client}`), Effect.forkScoped),
      );
      yield* Effect.repeat(Effect.void, {
        until: () => countOf(history.entries, "answered") >= answersBefore,
        schedule: Schedule.spaced("20 millis"),
      });

      // Whatever were answered now would be lost with the primary.
      yield* replication.silence;
      yield* Effect.sleep(standbyBehind);
      yield* primary.kill;
      // The address is moved before it leads to a primary, as happens.
      yield* Effect.forEach(nodes, ({ links }) => links.postgres.forwardTo(standby.port));
      yield* Effect.sleep(standbyBehind);
      yield* standby.promote;
      const promoted = performance.now();
      yield* Effect.sleep(longestRecovery);
      isWanted = false;
      yield* Fiber.joinAll(clients);
      yield* history.readAll(nodes);

      const url = Redacted.make(standby.urlOf("postgres"));
      const { entries } = history;
      const verdict = yield* checkHistory(entries, account, StorageSql.layerPostgres({ url }));
      const recovery = recoveryAfter(promoted, entries);
      const unavailable = countOf(entries, "unavailable");
      console.log({ answered: countOf(entries, "answered"), unavailable, ...verdict, recovery });
      expect(verdict.problems).toEqual([]);
      expect(countOf(entries, "broken") + countOf(entries, "not sent")).toBe(0);
      expect(unavailable).toBeGreaterThan(0);
      expect(recovery).toBeLessThan(longestRecovery + longestPulse(pulse, promoted, Infinity));
    }).pipe(Effect.scoped, Effect.runPromise),
);
