import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Option, Schema } from "effect";
import { HttpClient, HttpClientResponse } from "effect/http";
import { findResource } from "./find_resource.ts";
import { resilientClient } from "./resilience/resilient_client.ts";

/** Looks up user 1 at a platform that gives one response. */
const find = Effect.fnUntraced(function* (status: number, body: string) {
  const platform = HttpClient.make((request) =>
    Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body, { status }))),
  );
  return yield* findResource(yield* resilientClient(platform, "test"), {
    operation: "Test.findUser",
    url: "http://platform.test/users/1",
    found: Schema.Struct({ id: Schema.String, name: Schema.NullOr(Schema.String) }),
    matches: ({ id }) => id === "1",
    absent: Schema.Struct({ code: Schema.Literal("unknown_user") }),
  });
});

test("findResource returns the resource from a response with status 200", function* () {
  const found = yield* find(200, '{"id":"1","name":null,"more":true}');
  expect(found).toEqual(Option.some({ id: "1", name: null }));
});

test.each([403, 404])("findResource returns none after a %i for an absent resource", function* (status) {
  expect(yield* find(status, '{"code":"unknown_user"}')).toEqual(Option.none());
});

test.each<[status: number, body: string, reason: string]>([
  [200, '{"id":"2","name":null}', "unreadable"],
  [200, '{"id":"1"}', "unreadable"],
  [200, "<!doctype html>", "unreadable"],
  [200, "null", "unreadable"],
  [200, "", "unreadable"],
  [403, '{"code":"forbidden"}', "status"],
  [404, '{"code":"unknown_route"}', "status"],
  [404, "<h1>Not Found</h1>", "status"],
  [302, "", "status"],
  [401, '{"code":"unknown_user"}', "status"],
  [500, '{"code":"unknown_user"}', "status"],
])("a lookup fails for %i %s, which answers nothing", function* ([status, body, reason]) {
  const error = yield* Effect.flip(find(status, body));
  expect(error).toMatchObject({
    _tag: "PlatformUnavailable",
    operation: "Test.findUser",
    cause: { reason, status },
  });
  expect(JSON.stringify([error, error.cause])).not.toContain("platform.test");
});
