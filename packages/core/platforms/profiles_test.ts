import { assert, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { guildId } from "../test_services.ts";
import { ChatPlatform } from "./chat_platform.ts";
import { GamePlatform } from "./game_platform.ts";
import { Profiles } from "./profiles.ts";

const guild = { id: guildId, name: "Engine Room" };

/** Looks up a guild with `Profiles`. The chat platform answers when the effect `answered` has ended. */
const findGuild = (answered: Effect.Effect<void>) => {
  const platform = Layer.mock(ChatPlatform)({ findGuild: () => Effect.as(answered, Option.some(guild)) });
  const profiles = Profiles.layer.pipe(Layer.provide([platform, Layer.mock(GamePlatform)({})]));
  return Profiles.use((found) => found.guild(guildId)).pipe(Effect.provide(profiles));
};

test("Profiles waits at most a second for a guild", function* () {
  const inTime = yield* Effect.forkChild(findGuild(Effect.sleep(999)));
  const silent = yield* Effect.forkChild(findGuild(Effect.never));
  yield* TestClock.adjust("999 millis");
  assert.deepStrictEqual(yield* Fiber.join(inTime), guild);
  assert.isUndefined(silent.pollUnsafe());
  yield* TestClock.adjust("1 milli");
  assert.isNull(yield* Fiber.join(silent));
});
