/** A failover of Postgres to its synchronous standby, while clients write and read. */
import { startPostgresWithStandby } from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect, Schedule } from "effect";
import { expect } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { countOf, recoveryAfter, startCountingClients } from "./counting_clients.ts";
import { feelPulse, longestPulse } from "./pulse.ts";
import { startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const longestRecovery = 2_000;
/** The number of requests that are answered before the failover. */
const answersBefore = 300;
/** The primary runs without its standby for this long. Then there is no primary for as long again. */
const standbyBehind = "300 millis";

testLive.skipIf(missing !== null)(`a failover loses no answered write ${missing ?? ""}`, function* () {
  const fixtures = makeFixtures();
  const key = fixtures.key();
  const { primary, standby, replication } = yield* startPostgresWithStandby;
  const { nodes } = yield* startService({ fixture: fixtures.fixture, storage: primary });
  const pulse = yield* feelPulse(nodes);
  const clients = startCountingClients({ key, count: 6, targetsOf: () => nodes, isNamed: () => true });
  const { attempts } = clients;
  yield* Effect.repeat(Effect.void, {
    until: () => countOf(attempts, "answered") >= answersBefore,
    schedule: Schedule.spaced("20 millis"),
  });

  // From now on the standby receives no writes. If the primary still answered one, the failover would lose that
  // write.
  yield* replication.silence;
  yield* Effect.sleep(standbyBehind);
  yield* primary.kill;
  // Connect the nodes to the standby before its promotion, because a real failover may do so too.
  yield* Effect.forEach(nodes, ({ links }) => links.storage.forwardTo(standby.port));
  yield* Effect.sleep(standbyBehind);
  yield* standby.promote;
  const promoted = performance.now();
  yield* Effect.sleep(longestRecovery);
  const writes = yield* Effect.promise(clients.stop);
  const recovery = recoveryAfter(promoted, attempts, longestRecovery);
  const unavailable = countOf(attempts, "unavailable");
  console.log({ requests: attempts.length, writes, unavailable, recovery });
  expect(countOf(attempts, "broken") + countOf(attempts, "not sent")).toBe(0);
  expect(unavailable).toBeGreaterThan(0);
  expect(recovery).toBeLessThan(longestRecovery + longestPulse(pulse, promoted, Infinity));
});
