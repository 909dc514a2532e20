/** The service in memory, for tests that use promises. */
import type { Fixture } from "@accountlink/core";
import { type PromisedAccountLink, promisedAccountLink } from "accountlink";
import { type Duration, type Effect, Layer, ManagedRuntime, References } from "effect";
import { TestClock } from "effect/testing";
import { layer, publicUrl, type Services } from "./layer.ts";

/**
 * A service in memory with a test clock: everything that `createAccountLink` returns, in the account "acme". `fetch`
 * answers requests to `url`.
 */
export interface World extends PromisedAccountLink {
  /** The base URL for a client. */
  readonly url: string;

  /** Runs an effect with the services and ports; rejects with its error. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>;

  /** Advances the test clock and runs everything scheduled until then: limits reset, sessions expire. */
  readonly adjust: (duration: Duration.Input) => Promise<void>;

  /** Closes the world at the end of an `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** Hides the service's logs below the level `Error`, so that they do not mix with the logs of a tested bot. */
const quiet = Layer.succeed(References.MinimumLogLevel, "Error");

/** Starts a service in memory.
 *
 * @param fixture the initial data; empty by default
 *
 * @example
 * ```ts
 * const world = await memoryWorld(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * await world.adjust("2 seconds");
 * await world.links.set("100002", "1");
 * (await world.links.byGame("1"))?.chatIds; // ["100002", "100001"]
 *
 * const { token } = await world.keys.create({ name: "bot" });
 * const headers = { authorization: `Bearer ${token}` };
 * const request = new Request(`${world.url}/v2/chat?chatId=100001`, { headers });
 * (await world.fetch(request)).status; // 200
 * await world.close();
 * ```
 */
export const memoryWorld = async (fixture?: Fixture): Promise<World> => {
  const runtime = ManagedRuntime.make(Layer.merge(layer(fixture), quiet));
  const http = { publicUrl, clientAddress: "none" } as const;
  const al = await promisedAccountLink(await runtime.context(), http);
  const close = () => al.close().then(() => runtime.dispose());
  return {
    ...al,
    url: publicUrl,
    run: (effect) => runtime.runPromise(effect),
    adjust: (duration) => runtime.runPromise(TestClock.adjust(duration)),
    close,
    [Symbol.asyncDispose]: close,
  };
};
