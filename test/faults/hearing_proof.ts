/**
 * A program knows within 100 milliseconds of its user's last click: by stream and by long poll, on the node where the
 * user clicked and on another.
 */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { makeWorld } from "../support/world.ts";
import { complete, env, type Waiting } from "./completions.ts";
import { type Node, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const completions = 20;
const longestMedian = 100;

const medianOf = (values: ReadonlyArray<number>): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

test.skipIf(missing !== null)(
  `who waits for a session knows within ${longestMedian} ms of the last click ${missing ?? ""}`,
  () =>
    Effect.gen(function* () {
      const world = makeWorld();
      const key = world.key();
      const { nodes } = yield* startService({ fixture: world.fixture, env });
      const [one, other] = nodes as readonly [Node, Node, Node];

      const medianTime = (waiting: Waiting, heardOn: Node) =>
        Effect.promise(async () => {
          const times: Array<number> = [];
          while (times.length < completions) {
            const chatId = times.length % 2 === 0 ? "100001" : "100002";
            const { clicked, heard } = await complete({ on: one, heardOn, waiting, key, chatId });
            times.push(heard - clicked);
          }
          return medianOf(times);
        });
      const medians = {
        "stream, same node": yield* medianTime("stream", one),
        "stream, another node": yield* medianTime("stream", other),
        "long poll, same node": yield* medianTime("long poll", one),
        "long poll, another node": yield* medianTime("long poll", other),
      };
      console.log(medians);
      expect(Math.max(...Object.values(medians))).toBeLessThan(longestMedian);
    }).pipe(Effect.scoped, Effect.runPromise),
);
