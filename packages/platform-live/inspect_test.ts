import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient";
import { describe, expect, it } from "@effect/vitest";
import { Duration, Effect, Logger, Redacted } from "effect";
import { inspectLiveChatPlatform, inspectLiveGamePlatform } from "./inspect.ts";
import { ada, botToken, startDiscord } from "./internal/test_discord.ts";
import { startRoblox } from "./internal/test_roblox.ts";

const resilience = { backoff: Duration.millis(1) };

describe("inspectLiveChatPlatform", () => {
  const inspect = (apiUrl: string, token: string) =>
    inspectLiveChatPlatform({
      botToken: Redacted.make(token),
      publicUrl: "https://link.example",
      apiUrl,
      resilience,
    }).pipe(Effect.provide([NodeHttpClient.layerUndici, Logger.layer([])]));

  it.live("gives the name of the bot whose token is accepted", () =>
    Effect.gen(function* () {
      const { apiUrl } = yield* startDiscord((path, { headers }) =>
        path === "/users/@me" && headers.authorization === `Bot ${botToken}` ? { body: ada } : undefined,
      );
      expect(yield* inspect(apiUrl, botToken)).toBe("ada");
    }),
  );

  it.live("fails with the status of a token that is refused", () =>
    Effect.gen(function* () {
      const { apiUrl } = yield* startDiscord();
      const error = yield* Effect.flip(inspect(apiUrl, "another"));
      expect(error).toMatchObject({ _tag: "PlatformUnavailable", cause: { reason: "status", status: 401 } });
    }),
  );
});

describe("inspectLiveGamePlatform", () => {
  const inspect = (apiUrl: string) =>
    Effect.provide(inspectLiveGamePlatform({ apiUrl, resilience }), NodeHttpClient.layerUndici);

  it.live("is content with any answer of Roblox, and with no other", () =>
    Effect.gen(function* () {
      const { apiUrl } = yield* startRoblox();
      yield* inspect(apiUrl);
      const other = yield* startRoblox(() => ({ status: 404, body: "Not found" }));
      expect(yield* Effect.flip(inspect(other.apiUrl))).toMatchObject({ cause: { reason: "unreadable" } });
    }),
  );
});
