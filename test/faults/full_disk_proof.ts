/**
 * A disk that is full: writes are refused, nothing that was answered is lost, and it goes on when there is room again.
 */
import { join } from "node:path";
import type { AuditLog } from "@accountlink/core";
import { StorageSql } from "@accountlink/storage-sql";
import {
  mountSmallDisk,
  type SmallDisk,
  startPostgres,
  whyNoPostgres,
  whyNoSmallDisk,
} from "@accountlink/test-servers";
import { Effect, Fiber, type Layer, Redacted, Schedule } from "effect";
import { expect, test } from "vitest";
import { type RunningServer, startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";
import { chatIds, fixtureWithGameUsers, gameIdOf, type History, makeHistory } from "./history.ts";
import { checkHistory } from "./history_check.ts";
import { setGame } from "./requests.ts";
import type { Target } from "./service.ts";

const noDisk = await whyNoSmallDisk();
const noPostgres = await whyNoPostgres();

const clientCount = 3;
const longestRecovery = 2_000;

const start = (options: Parameters<typeof startServer>[0]) =>
  Effect.acquireRelease(
    Effect.promise(() => startServer(options)),
    (server) => Effect.promise(() => server.stop()),
  );

const targetOf = (server: RunningServer): Target => ({
  name: "the one",
  send: server.send,
  isUp: () => true,
  disturbances: () => 0,
});

/** Waits until so many more requests of the history have ended in a way. */
const until = (history: History, kind: "answered" | "unavailable", more: number) => {
  const count = () => history.entries.filter(({ outcome }) => outcome.kind === kind).length;
  const wanted = count() + more;
  return Effect.repeat(Effect.sync(count), {
    until: (found) => found >= wanted,
    schedule: Schedule.spaced("5 millis"),
  });
};

interface Writers {
  readonly key: string;
  readonly account: string;
  readonly stores: Layer.Layer<AuditLog, unknown>;
}

/** Writes and reads while the disk fills up and is freed. Gives what is wrong, and how long it took to recover. */
const fillAndFree = Effect.fnUntraced(function* (
  server: RunningServer,
  disk: SmallDisk,
  { key, account, stores }: Writers,
) {
  const history = makeHistory(key);
  const target = targetOf(server);
  let isWanted = true;
  const clients = yield* Effect.forEach(Array.from({ length: clientCount }).keys(), (client) =>
    Effect.forkScoped(history.client(client, [target], () => isWanted)),
  );
  yield* until(history, "answered", 50);
  yield* disk.fill;
  yield* until(history, "unavailable", 20);
  yield* disk.free;
  const returned = performance.now();
  for (const chatId of chatIds) {
    yield* Effect.repeat(history.ask(clientCount, target, setGame(chatId, gameIdOf(chatId, 0))), {
      until: ({ outcome }) => outcome.kind === "answered",
      schedule: Schedule.spaced("20 millis"),
    });
  }
  const recovery = performance.now() - returned;
  yield* until(history, "answered", 50);
  isWanted = false;
  yield* Fiber.joinAll(clients);
  yield* history.readAll([target]);
  const { problems, ...verdict } = yield* checkHistory(history.entries, account, stores);
  console.log({ requests: history.entries.length, recovery: Math.round(recovery), ...verdict });
  return { problems, hasRecovered: recovery < longestRecovery };
});

const makeWriters = () => {
  const world = makeWorld();
  const account = "writers";
  const key = world.key({ account });
  return { account, key, fixture: fixtureWithGameUsers(world) };
};

test.skipIf(noDisk !== null)(`the embedded storage survives a full disk ${noDisk ?? ""}`, () =>
  Effect.gen(function* () {
    const { fixture, ...writers } = makeWriters();
    const disk = yield* mountSmallDisk(16);
    const folder = join(disk.folder, "data");
    const server = yield* start({ fixture, dataFolder: folder });
    const stores = StorageSql.layerEmbedded({ folder, exclusive: false });
    const outcome = yield* fillAndFree(server, disk, { ...writers, stores });
    expect(outcome).toEqual({ problems: [], hasRecovered: true });
  }).pipe(Effect.scoped, Effect.runPromise),
);

test.skipIf(noDisk !== null || noPostgres !== null)(
  `a service survives a full disk of its Postgres ${noDisk ?? noPostgres ?? ""}`,
  () =>
    Effect.gen(function* () {
      const { fixture, ...writers } = makeWriters();
      const disk = yield* mountSmallDisk(192);
      const postgres = yield* startPostgres({ parent: disk.folder });
      const url = postgres.urlOf("postgres");
      const env = {
        ACCOUNTLINK_STORAGE: "postgres",
        ACCOUNTLINK_DATABASE_URL: url,
        ACCOUNTLINK_SECRET: secret,
      };
      const server = yield* start({ fixture, env });
      const stores = StorageSql.layerPostgres({ url: Redacted.make(url) });
      const outcome = yield* fillAndFree(server, disk, { ...writers, stores });
      expect(outcome).toEqual({ problems: [], hasRecovered: true });
    }).pipe(Effect.scoped, Effect.runPromise),
);

const secret = Buffer.alloc(32, "secret").toString("base64");
