import type { ApiKey, PublicError } from "@accountlink/core";
import {
  Conflict,
  InvalidParameter,
  LinkNotFound,
  RateLimited,
  StoreUnavailable,
} from "@accountlink/core/errors";
import type { Commit, Idempotency, IdempotentRequest } from "@accountlink/core/idempotency";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import type { RequestContext } from "../request_context.ts";
import { answerOnce } from "./idempotency.ts";

type Service = Idempotency["Service"];

/** Answers a request with these values, and gives what was asked of the service. */
const bench = (values: Readonly<Record<string, unknown>> = {}) => {
  const requests: Array<IdempotentRequest> = [];
  const kept: Array<object> = [];
  const keep = (answer: object) => Effect.sync(() => void kept.push(answer));
  const first: Service["begin"] = (request, answerOf) => {
    requests.push(request);
    const commit: Commit<Parameters<typeof answerOf>[0]> = (write, resultOf) =>
      Effect.tap(write, (outcome) => keep(answerOf(resultOf(outcome))));
    return Effect.succeed({ _tag: "First", commit, keep });
  };
  const again: Service["begin"] = () => Effect.succeed({ _tag: "Answered", answer: kept[0] });
  const request = { header: () => "mine" as string | undefined };
  const context = { requestId: "req_1", request, route: { id: "patchGame" }, isReplayed: false };
  const input = {
    context: context as unknown as RequestContext,
    key: { id: "Aa0Bb1Cc2Dd3" } as ApiKey,
    values,
  };
  const answer = (begin: Service["begin"], outcome: Effect.Effect<unknown, PublicError>) =>
    answerOnce(
      { begin },
      input,
      ({ commit }) => commit(outcome, (result) => result),
      (data: unknown) => ({ data }),
    );
  return {
    requests,
    kept,
    context,
    answer: (outcome: Effect.Effect<unknown, PublicError>) => answer(first, outcome),
    replay: answer(again, Effect.die("unused")),
  };
};

describe("answerOnce", () => {
  it.effect("keeps an answer, and replays it", () =>
    Effect.gen(function* () {
      const { answer, replay, context } = bench();
      const data = { chatId: "10001", gameId: "7" };
      assert.deepStrictEqual(yield* answer(Effect.succeed(data)), { data });
      assert.isFalse(context.isReplayed);
      assert.deepStrictEqual<unknown>(yield* replay, { status: 200, data });
      assert.isTrue(context.isReplayed);
    }),
  );

  it.effect("keeps nothing without an idempotency key", () =>
    Effect.gen(function* () {
      const { answer, requests, context } = bench();
      context.request.header = () => undefined;
      assert.deepStrictEqual(yield* answer(Effect.succeed("done")), { data: "done" });
      assert.deepStrictEqual(requests, []);
    }),
  );

  it.effect.each([
    new LinkNotFound(),
    new Conflict({ reason: "chat_already_linked" }),
    InvalidParameter.one("gameId", "expected another"),
  ])("keeps the refusal %s, and replays it", (error) =>
    Effect.gen(function* () {
      const { answer, replay } = bench();
      assert.strictEqual(yield* Effect.flip(answer(Effect.fail(error))), error);
      assert.deepStrictEqual(yield* Effect.flip(replay), error);
    }),
  );

  it.effect("keeps nothing that asks to try again", () =>
    Effect.gen(function* () {
      const { answer, kept } = bench();
      const refusal = { bucket: "session_create", limit: 1, resetsAt: 0, retryAfter: 1 } as const;
      for (const error of [new RateLimited(refusal), new StoreUnavailable({ operation: "test" })]) {
        assert.strictEqual(yield* Effect.flip(answer(Effect.fail(error))), error);
      }
      assert.deepStrictEqual(kept, []);
    }),
  );

  it.effect("compares requests by route and given values", () =>
    Effect.gen(function* () {
      const contentOf = Effect.fnUntraced(function* (values: Readonly<Record<string, unknown>>) {
        const { answer, requests } = bench(values);
        yield* answer(Effect.succeed({}));
        return requests[0]?.content;
      });
      const content = yield* contentOf({ chatId: "10001", guildId: null });
      assert.deepStrictEqual(yield* contentOf({ chatId: "10001" }), content);
      assert.notDeepEqual(yield* contentOf({ chatId: "10002" }), content);
    }),
  );
});
