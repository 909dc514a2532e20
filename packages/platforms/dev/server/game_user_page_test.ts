import { GameId, GamePlatform } from "@accountlink/core";
import { decodeFixture } from "@accountlink/core/fixture";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Option } from "effect";
import { startServer } from "../test_server.ts";

const user = { id: "1", username: "ada_g", displayName: 'Ada <"&>', description: "first </textarea>" };

const started = Effect.flatMap(
  decodeFixture(JSON.stringify({ platform: { gameUsers: [user, { id: "2" }] } })),
  ({ platform }) => startServer(platform),
);

const request = (url: string, form?: Record<string, string>) =>
  Effect.promise(async () => {
    const posted = form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) };
    const response = await fetch(url, posted);
    return { status: response.status, text: await response.text() };
  });

test("the page of a game user shows the profile, and changes the description", function* () {
  const { url, adapters } = yield* started;
  const game = Context.get(yield* Layer.build(adapters()), GamePlatform);
  const shown = yield* request(`${url}/game/users/1`);
  expect(shown.status).toBe(200);
  expect(shown.text).toContain("<h1>Ada &lt;&quot;&amp;&gt;</h1>");
  expect(shown.text).toContain(">first &lt;/textarea&gt;</textarea>");
  expect(game.descriptionPage?.(GameId.make("1"))).toBe(`${url}/game/users/1`);
  const changed = yield* request(`${url}/game/users/1`, { description: "second" });
  expect([changed.status, changed.text.includes(">second</textarea>")]).toEqual([200, true]);
  const read = (id: string) => game.findDescription?.(GameId.make(id)) ?? Effect.succeedNone;
  expect([yield* read("1"), yield* read("2"), yield* read("3")]).toEqual([
    Option.some("second"),
    Option.some(""),
    Option.none(),
  ]);
  expect(Option.getOrThrow(yield* game.findProfile(GameId.make("1"))).description).toBe("second");
});

test("the page of a game user refuses unknown users and unreadable forms", function* () {
  const { url } = yield* started;
  expect(yield* request(`${url}/game/users/9`)).toMatchObject({ status: 404 });
  expect(yield* request(`${url}/game/users/9`, { description: "a" })).toMatchObject({ status: 404 });
  for (const form of [{}, { description: "a".repeat(1_001) }]) {
    expect(yield* request(`${url}/game/users/1`, form)).toMatchObject({ status: 400 });
  }
});
