import { Context, Effect, Fiber, References } from "effect";
import { expect, test } from "vitest";
import { makeRun } from "./run_requests.ts";

class Store extends Context.Service<Store, string>()("@accountlink/core/Store") {}

test("requests run with the references of Effect, and without the services of the application", async () => {
  const context = Context.make(Store, "store").pipe(Context.add(References.MinimumLogLevel, "Error"));
  const fiber = makeRun(context as Context.Context<never>)(Effect.context());
  const found = await Effect.runPromise(Fiber.join(fiber));
  expect(Context.get(found, References.MinimumLogLevel)).toBe("Error");
  expect(found.mapUnsafe.has(Store.key)).toBe(false);
});
