import { KeyStore } from "@accountlink/core/keys";
import { Secrets } from "@accountlink/core/secrets";
import { expect, test } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Fiber, Layer, Option } from "effect";
import type { HttpRequest } from "../http_app.ts";
import { makeOperatorApp, Readiness } from "./system_routes.ts";

test("all who ask for /readyz at a time share one question to the storage, also if the first one leaves", function* () {
  const answers = yield* Deferred.make<void>();
  let asked = 0;
  const findAccount = () =>
    Effect.suspend(() => {
      asked++;
      return Effect.as(Deferred.await(answers), Option.none());
    });
  const services = Layer.merge(
    Layer.mock(KeyStore)({ findAccount }),
    Layer.mock(Secrets)({ deploymentId: "one" }),
  );
  const app = yield* Effect.provide(makeOperatorApp, Layer.provide(Readiness.layerStorage, services));
  const ask = app.answer({ method: "GET", url: "/readyz" } as HttpRequest);
  const [first, ...others] = yield* Effect.replicateEffect(Effect.forkChild(ask), 100);
  yield* Effect.yieldNow;
  if (first !== undefined) yield* Fiber.interrupt(first);
  yield* Deferred.succeed(answers, undefined);
  const found = yield* Fiber.joinAll(others);
  expect([asked, new Set(found.map(({ status }) => status))]).toEqual([1, new Set([200])]);
  yield* ask;
  expect(asked).toBe(2);
});
