import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { WebRequest } from "./web_request.ts";

const requestOf = (body: BodyInit) =>
  new Request("https://links.example/v2/chat/bulk", { method: "POST", body, duplex: "half" } as RequestInit);

test("a body that has not come after half a minute is late, and one that came never", function* () {
  let late = 0;
  const note = () => {
    late++;
  };
  yield* new WebRequest(requestOf("{}"), undefined, note).readBody(100);
  yield* Effect.forkChild(new WebRequest(requestOf(new ReadableStream()), undefined, note).readBody(100));
  yield* TestClock.adjust("29 seconds");
  expect(late).toBe(0);
  yield* TestClock.adjust("2 seconds");
  expect(late).toBe(1);
});
