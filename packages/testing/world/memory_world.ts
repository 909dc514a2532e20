/**
 * The world in memory, for tests that use promises.
 */
import type { Fixture } from "@accountlink/core";
import { type Duration, type Effect, ManagedRuntime } from "effect";
import { TestClock } from "effect/testing";
import { layer, type Services } from "./layer.ts";

/** A service in memory whose time moves only when it is told to. */
export interface World {
  /** Runs an effect on the services and ports, and rejects with its error. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>;

  /** Moves the time, and runs what was scheduled until then: limits open, sessions expire. */
  readonly adjust: (duration: Duration.Input) => Promise<void>;

  /** Ends what the world does in the background. */
  readonly close: () => Promise<void>;

  /** The same as `close`, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * Starts a world.
 *
 * @param fixture what it begins with; empty by default
 *
 * @example
 * ```ts
 * import { ChatPlatform, GuildId } from "@accountlink/core";
 * import { Clock, Effect, Option } from "effect";
 *
 * const guild = aGuild("700000000000000001", ["100001"], { name: "Engine Room" });
 * const world = await memoryWorld(aFixture({ platform: { guilds: [guild] } }));
 * await world.adjust("2 seconds");
 * await world.run(Clock.currentTimeMillis); // 2000
 * const found = await world.run(Effect.flatMap(ChatPlatform, (chat) => chat.findGuild(guild.id)));
 * Option.getOrThrow(found).name; // "Engine Room"
 * await world.close();
 * ```
 */
export const memoryWorld = async (fixture?: Fixture): Promise<World> => {
  const runtime = ManagedRuntime.make(layer(fixture));
  await runtime.context();
  const close = () => runtime.dispose();
  return {
    run: (effect) => runtime.runPromise(effect),
    adjust: (duration) => runtime.runPromise(TestClock.adjust(duration)),
    close,
    [Symbol.asyncDispose]: close,
  };
};
