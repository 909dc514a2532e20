import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { HttpServerResponse } from "effect/http";
import { directRequests } from "./direct_requests.ts";
import type { BoundRoute, DirectRoute } from "./pipeline/pipeline.ts";

const answer = Effect.die("not asked");
const answerDirectly = (_request: unknown, query: unknown) =>
  Effect.succeed(HttpServerResponse.text(JSON.stringify(query)));

const routes: ReadonlyArray<BoundRoute | DirectRoute> = [
  { method: "GET", path: "/v2/chat", answer, answerDirectly },
  { method: "PATCH", path: "/v2/chat", answer, answerDirectly },
  { method: "GET", path: "/v2/sessions/:sid", answer, answerDirectly },
  { method: "GET", path: "/verify", answer },
];
const answerOf = directRequests(routes);

const found = (method: string, url: string) =>
  answerOf({ method, url, headers: {}, bytes: Effect.die("not read") }, undefined);

describe("A direct request", () => {
  it.effect("gets the values of a plain query", () =>
    Effect.gen(function* () {
      const response = yield* found("GET", "/v2/chat?chatId=100001&guildId=&resolved=true") ??
        Effect.die("long way");
      const text = yield* Effect.promise(() => HttpServerResponse.toWeb(response).text());
      assert.deepStrictEqual(JSON.parse(text), { chatId: "100001", guildId: "", resolved: "true" });
    }),
  );

  it("leaves every other request to the application", () => {
    assert.isDefined(found("GET", "/v2/chat"));
    assert.isDefined(found("PATCH", "/v2/chat"));
    const others = [
      ["POST", "/v2/chat"],
      ["GET", "/v2/sessions/:sid"],
      ["GET", "/verify"],
      ["HEAD", "/v2/chat?chatId=1"],
      ["GET", "/v2/game?gameId=1"],
      ["GET", "/v2/chat/?chatId=1"],
      ["GET", "/v2/chat?chatId=%31"],
      ["GET", "/v2/chat?chatId=1+2"],
      ["GET", "/v2/chat?chatId=1&chatId=2"],
      ["GET", "/v2/chat?chatId=1&"],
      ["GET", "/v2/chat?chatId"],
      ["GET", "/v2/chat?__proto__=1"],
      ["GET", "/v2/chat?chatId=1?"],
      ["GET", "/v2/chat?chatId=1#"],
      ["GET", "http://localhost/v2/chat?chatId=1"],
    ] as const;
    for (const [method, url] of others) assert.isUndefined(found(method, url), url);
  });
});
