import { describe, expect, it } from "@effect/vitest";
import { Duration, Effect, Logger, Redacted } from "effect";
import { FetchHttpClient } from "effect/http";
import { ada, botToken, startDiscord } from "./discord/test_discord.ts";
import { inspectLiveChatPlatform, inspectLiveGamePlatform } from "./inspect.ts";
import { startRoblox } from "./roblox/test_roblox.ts";

const resilience = { backoff: Duration.millis(1) };

describe("inspectLiveChatPlatform", () => {
  const inspect = (apiUrl: string, token: string) =>
    inspectLiveChatPlatform({
      botToken: Redacted.make(token),
      publicUrl: "https://link.example",
      apiUrl,
      resilience,
    }).pipe(Effect.provide([FetchHttpClient.layer, Logger.layer([])]));

  it.live("the inspection of Discord returns the name of the token's bot", () =>
    Effect.gen(function* () {
      const { apiUrl } = yield* startDiscord((path, { headers }) =>
        path === "/users/@me" && headers.authorization === `Bot ${botToken}` ? { body: ada } : undefined,
      );
      expect(yield* inspect(apiUrl, botToken)).toBe("ada");
    }),
  );

  it.live("the inspection of Discord fails with the status when the token is refused", () =>
    Effect.gen(function* () {
      const { apiUrl } = yield* startDiscord();
      const error = yield* Effect.flip(inspect(apiUrl, "another"));
      expect(error).toMatchObject({ _tag: "PlatformUnavailable", cause: { reason: "status", status: 401 } });
    }),
  );
});

describe("inspectLiveGamePlatform", () => {
  const inspect = (apiUrl: string) =>
    Effect.provide(inspectLiveGamePlatform({ apiUrl, resilience }), FetchHttpClient.layer);

  it.live("the inspection succeeds if Roblox does not know the user, and fails for another server", () =>
    Effect.gen(function* () {
      const { apiUrl } = yield* startRoblox();
      yield* inspect(apiUrl);
      const other = yield* startRoblox(() => ({ status: 404, body: "Not found" }));
      expect(yield* Effect.flip(inspect(other.apiUrl))).toMatchObject({ cause: { reason: "unreadable" } });
    }),
  );
});
