import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { HttpServerResponse } from "effect/http";
import { directLookups } from "./direct_lookups.ts";

const lookup = directLookups([
  {
    method: "GET",
    path: "/v2/chat",
    answer: Effect.die("not asked"),
    answerHead: (_head, query) => Effect.succeed(HttpServerResponse.text(JSON.stringify(query))),
  },
]);

const found = (method: string, url: string) => lookup({ method, url, headers: {} }, undefined);

describe("A direct lookup", () => {
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
    const others = [
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
