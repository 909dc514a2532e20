import type { ApiKey } from "@accountlink/core";
import type { Idempotency, IdempotentRequest } from "@accountlink/core/idempotency";
import { assert, it } from "@effect/vitest";
import { Effect } from "effect";
import type { RequestContext } from "../request_context.ts";
import { answerOnce } from "./idempotency.ts";

const context = { requestId: "req_1", request: { header: () => "mine" }, route: { id: "patchGame" } };

/** What a request with these values is compared by. */
const contentOf = Effect.fnUntraced(function* (values: Readonly<Record<string, unknown>>) {
  const requests: Array<IdempotentRequest> = [];
  const begin: Idempotency["Service"]["begin"] = (request) => {
    requests.push(request);
    return Effect.succeed({ _tag: "Answered", answer: {} });
  };
  const input = {
    context: context as unknown as RequestContext,
    key: { id: "Aa0Bb1Cc2Dd3" } as ApiKey,
    values,
  };
  yield* answerOnce(
    { begin },
    input,
    () => Effect.die("unused"),
    (data: unknown) => ({ data }),
  );
  return requests[0]?.content;
});

// So that a request is still the same after a release that adds a parameter.
it.effect("requests under an idempotency key are compared by route and given values", () =>
  Effect.gen(function* () {
    const content = yield* contentOf({ chatId: "10001", guildId: null });
    assert.deepStrictEqual(yield* contentOf({ chatId: "10001" }), content);
    assert.notDeepEqual(yield* contentOf({ chatId: "10002" }), content);
  }),
);
