import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Duration, Effect } from "effect";
import { FetchHttpClient } from "effect/http";
import { inspectLiveGamePlatform } from "./inspect.ts";
import { startRoblox } from "./roblox/test_roblox.ts";

// `doctor_test.ts` tests the inspection of Discord.
const inspect = (apiUrl: string) =>
  Effect.provide(
    inspectLiveGamePlatform({ apiUrl, resilience: { backoff: Duration.millis(1) } }),
    FetchHttpClient.layer,
  );

test("the inspection succeeds if Roblox does not know the user, and fails for another server", function* () {
  const { apiUrl } = yield* startRoblox();
  yield* inspect(apiUrl);
  const other = yield* startRoblox(() => ({ status: 404, body: "Not found" }));
  expect(yield* Effect.flip(inspect(other.apiUrl))).toMatchObject({ cause: { reason: "status" } });
});
