import { decodeFixture } from "@accountlink/core/fixture";
import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { startServer } from "../test_server.ts";

const platform = { chatUsers: [{ id: "10001" }], gameUsers: [{ id: "1" }] };

const started = Effect.flatMap(decodeFixture(JSON.stringify({ platform })), (fixture) =>
  startServer(fixture.platform),
);

const statusOf = (url: string, init: RequestInit) =>
  Effect.promise(async () => (await fetch(url, init)).status);

test("the chat platform requires the bot's token", function* () {
  const { url } = yield* started;
  const rows = [
    ["Bearer bot-token", 200],
    ["Bearer another", 401],
    ["", 401],
  ] as const;
  for (const [authorization, status] of rows) {
    expect(yield* statusOf(`${url}/chat/api/users/10001`, { headers: { authorization } })).toBe(status);
  }
});

test("the page of a game user takes a description of up to 1,000 characters", function* () {
  const { url } = yield* started;
  for (const [length, status] of [
    [1_000, 200],
    [1_001, 400],
  ] as const) {
    const body = new URLSearchParams({ description: "a".repeat(length) });
    expect(yield* statusOf(`${url}/game/users/1`, { method: "POST", body })).toBe(status);
  }
});
