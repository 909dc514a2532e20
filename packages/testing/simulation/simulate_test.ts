import { Links } from "accountlink";
import { Clock, Effect, Exit } from "effect";
import { expect, it } from "vitest";
import { aFixture } from "../builders/complete_fixture.ts";
import { aGameUser } from "../builders/platform.ts";
import { Simulation, simulate } from "./simulate.ts";

const fixture = aFixture({ platform: { gameUsers: ["1", "2", "3"].map((id) => aGameUser(id)) } });
const set = (gameId: string) => Links.use((links) => links.set("100001", gameId));
const read = Links.use((links) => links.get("100001"));

/** Starts three concurrent writers of one link, and returns the game ID that is stored at the end. */
const race = Effect.gen(function* () {
  const { start } = yield* Simulation;
  const writers = ["1", "2", "3"].map((gameId) => start(gameId, set(gameId)));
  for (const writer of writers) yield* yield* writer.exit;
  return (yield* yield* start("reader", read).exit)?.gameId;
});

it("a simulation has the same result for the same seed, and different results for different seeds", async () => {
  const winners = () =>
    Promise.all(Array.from({ length: 16 }, (_, seed) => simulate(race, { seed, fixture })));
  const [first, again] = [await winners(), await winners()];
  expect(again).toEqual(first);
  expect(new Set(first)).toEqual(new Set(["1", "2", "3"]));
});

it("a killed process writes nothing, and a write is stored even if its answer is late", async () => {
  const story = Effect.gen(function* () {
    const { start, postgres } = yield* Simulation;
    const early = start("early", Effect.andThen(Effect.sleep(1_000), set("1")));
    yield* Effect.sleep(500);
    early.kill();
    // The first write of a node counts the links of the account, so that the second one only writes.
    const late = start("late", Effect.andThen(set("1"), Effect.andThen(Effect.sleep(1_000), set("2"))));
    yield* Effect.sleep(500);
    postgres.slowness = 60_000;
    const exit = yield* late.exit;
    postgres.slowness = 0;
    yield* Effect.sleep("1 minute");
    return [Exit.isFailure(exit), (yield* yield* start("reader", read).exit)?.gameId];
  });
  expect(await simulate(story, { seed: 2, fixture })).toEqual([true, "2"]);
});

it("each simulated process has its own clock", async () => {
  const story = Effect.gen(function* () {
    const { start } = yield* Simulation;
    const began = yield* Clock.currentTimeMillis;
    const bot = start("bot", Effect.delay(Clock.currentTimeMillis, "1 minute"));
    bot.setClock(5_000);
    yield* Effect.sleep("30 seconds");
    bot.freeze();
    yield* Effect.sleep("90 seconds");
    bot.thaw();
    return Math.round(((yield* yield* bot.exit) - began) / 1_000);
  });
  expect(await simulate(story, { seed: 1 })).toBe(120 + 5);
});

it("simulate rejects with the seed and the error if the simulated program fails", async () => {
  const failing = simulate(Effect.fail("no role"), { seed: 7 });
  await expect(failing).rejects.toThrow("Seed 7: no role");
  await expect(failing).rejects.toHaveProperty("cause", "no role");
});

it("simulate rejects if the simulated program exceeds the maximum time", async () => {
  const waiting = Effect.flatMap(Simulation, ({ start }) => start("bot", Effect.never).exit);
  await expect(simulate(waiting, { seed: 1, longest: "1 minute" })).rejects.toThrow("60000 ms");
});
