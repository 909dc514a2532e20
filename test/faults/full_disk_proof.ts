/** A full disk: writes are refused, no answered write is lost, and the service continues when space is free again. */
import { join } from "node:path";
import { runInProcess, storageAt } from "@accountlink/server/test_command_line";
import {
  mountSmallDisk,
  type SmallDisk,
  startPostgres,
  whyNoPostgres,
  whyNoSmallDisk,
} from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect, Schedule } from "effect";
import { expect } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { type RunningServer, serverInScope, startServer } from "../support/server.ts";
import { countOf, fragile, recoveryAfter, startCountingClients } from "./counting_clients.ts";

const noDisk = await whyNoSmallDisk();
const noPostgres = await whyNoPostgres();

const longestRecovery = 2_000;

/** Runs clients that write and read while the disk fills up and is freed. Returns the recovery time in milliseconds. */
const fillAndFree = Effect.fnUntraced(function* (
  server: RunningServer,
  disk: SmallDisk,
  key: string,
  whenFull: Effect.Effect<void> = Effect.void,
) {
  const clients = startCountingClients({
    key,
    count: 6,
    targetsOf: () => [fragile("the one", server.send)],
    isNamed: (client) => client % 2 === 0,
  });
  /** Waits until the clients have made `more` further requests with the outcome `kind`. */
  const until = (kind: "answered" | "unavailable", more: number) => {
    const wanted = countOf(clients.attempts, kind) + more;
    return Effect.repeat(Effect.void, {
      until: () => countOf(clients.attempts, kind) >= wanted,
      schedule: Schedule.spaced("5 millis"),
    });
  };
  yield* until("answered", 50);
  yield* disk.fill;
  yield* until("unavailable", 20);
  yield* whenFull;
  // The server stays ready, because a balancer that removes it would end lookups too.
  expect((yield* Effect.promise(() => server.send("GET /readyz"))).status).toBe(200);
  yield* disk.free;
  const returned = performance.now();
  yield* Effect.sleep(longestRecovery);
  yield* until("answered", 50);
  const writes = yield* Effect.promise(clients.stop);
  const recovery = Math.round(recoveryAfter(returned, clients.attempts, longestRecovery));
  console.log({ requests: clients.attempts.length, writes, recovery });
  return recovery;
});

testLive.skipIf(noDisk !== null)(`the embedded storage survives a full disk ${noDisk ?? ""}`, function* () {
  const fixtures = makeFixtures();
  const key = fixtures.key();
  const disk = yield* mountSmallDisk(16);
  const server = yield* serverInScope(
    { fixture: fixtures.fixture, dataFolder: join(disk.folder, "data") },
    startServer,
  );
  expect(yield* fillAndFree(server, disk, key)).toBeLessThan(longestRecovery);
  expect(server.output().match(/Cannot write: the disk of the database is full/g)).toHaveLength(1);
});

testLive.skipIf(noDisk !== null || noPostgres !== null)(
  `a service survives a full disk of its Postgres ${noDisk ?? noPostgres ?? ""}`,
  function* () {
    const fixtures = makeFixtures();
    const key = fixtures.key();
    const disk = yield* mountSmallDisk(192);
    const postgres = yield* startPostgres({ parent: disk.folder });
    const env = storageAt(postgres.urlOf("postgres"));
    const server = yield* serverInScope({ fixture: fixtures.fixture, env }, startServer);
    const isFound = Effect.promise(async () => {
      const { stdout } = await runInProcess(["doctor"], { ...env, ACCOUNTLINK_PLATFORM: "none" });
      expect(stdout).toMatch(/^fail +database +its disk is full$/m);
    });
    expect(yield* fillAndFree(server, disk, key, isFound)).toBeLessThan(longestRecovery);
    expect(server.output()).toContain("Cannot write: the disk of the database is full");
  },
);
