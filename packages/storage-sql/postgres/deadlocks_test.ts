import {
  anyCommand,
  type Command,
  newCommandWorld,
  runCommand,
  storeCommandWorld,
  sweepCommand,
  verificationWalk,
} from "@accountlink/conformance/commands";
import { makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, it } from "@effect/vitest";
import { Effect, Redacted } from "effect";
import * as FastCheck from "fast-check";
import { layerPostgres } from "./postgres.ts";
import { generous } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

const rounds = 20;
const walks = FastCheck.array(verificationWalk, { minLength: 6, maxLength: 6 });

/**
 * Leaves out what can deadlock and is retried: a move to a smaller chat ID without a record, with an import of both, and
 * an import that replaces, which locks its new records before the old ones. Also leaves out duplicate flow IDs, which
 * random IDs never are.
 */
const isLockOrdered = (command: Command): boolean =>
  command.op !== "moveChat" &&
  !(command.op === "importBatch" && command.existing !== "keep") &&
  !(command.op === "prove" && command.nextFlow !== command.flow);

const commands = FastCheck.array(
  FastCheck.oneof({ weight: 20, arbitrary: anyCommand }, { weight: 1, arbitrary: sweepCommand }).filter(
    isLockOrdered,
  ),
  { minLength: 40, maxLength: 40 },
);

describe.skipIf(missing !== null)(`concurrent writes ${missing ?? "on Postgres"}`, () => {
  it.live("never deadlock", () =>
    Effect.gen(function* () {
      const { url, query } = yield* makePostgresDatabase();
      const samples = FastCheck.sample(FastCheck.tuple(walks, commands), { numRuns: rounds, seed: 1 });
      yield* Effect.gen(function* () {
        for (const [before, atOnce] of samples) {
          const world = newCommandWorld();
          yield* storeCommandWorld(world);
          yield* Effect.forEach(before.flat(), (command) => runCommand(world, command));
          yield* Effect.forEach(atOnce, (command) => runCommand(world, command), {
            concurrency: "unbounded",
          });
        }
      }).pipe(
        Effect.provide(layerPostgres({ url: Redacted.make(url), maxConnections: 20, ...generous }), {
          local: true,
        }),
      );
      const found = yield* query(
        "SELECT deadlocks::int, xact_commit > 500 AS worked FROM pg_stat_database WHERE datname = current_database()",
      );
      expect(found).toEqual([{ deadlocks: 0, worked: true }]);
    }),
  );
});
