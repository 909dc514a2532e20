import type { ApiKey, PublicError } from "@accountlink/core";
import {
  Conflict,
  InvalidParameter,
  LinkNotFound,
  RateLimited,
  StoreUnavailable,
} from "@accountlink/core/errors";
import type { Answer, CommitAnswer, Idempotency, IdempotentRequest } from "@accountlink/core/idempotency";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import type { RequestContext } from "../request_context.ts";
import { answerOnce } from "./idempotency.ts";

type Service = Idempotency["Service"];

/** Answers a request with these values, and gives what was asked of the service. */
const bench = (values: Readonly<Record<string, unknown>> = {}) => {
  const requests: Array<IdempotentRequest> = [];
  const kept: Array<Answer> = [];
  const commit: CommitAnswer = (write, answerOf) =>
    Effect.tap(write, (outcome) => Effect.sync(() => kept.push(answerOf(outcome))));
  const first: Service["once"] = (request, run) => {
    requests.push(request);
    return run(commit);
  };
  const context = { requestId: "req_1", route: { id: "patchGame" }, isReplayed: false } as RequestContext;
  const input = { context, key: { id: "Aa0Bb1Cc2Dd3" } as ApiKey, idempotencyKey: "mine", values };
  const answer = (once: Service["once"], outcome: Effect.Effect<unknown, PublicError>) =>
    answerOnce<unknown, never>(
      { once },
      input,
      (commitResult) => commitResult(outcome, (result) => result),
      (data) => ({ data }),
    );
  const replay = (text: string) => answer(() => Effect.succeed({ replayed: text }), Effect.die("unused"));
  return {
    requests,
    kept,
    context,
    replay,
    answer: (outcome: Parameters<typeof answer>[1]) => answer(first, outcome),
  };
};

describe("answerOnce", () => {
  it.effect("keeps an answer with the chat users in it, and replays it", () =>
    Effect.gen(function* () {
      const { answer, kept, replay, context } = bench();
      const data = {
        previousChatId: "10001",
        review: { chatId: "10002", otherChatId: "10003" },
        gameId: "7",
      };
      assert.deepStrictEqual(yield* answer(Effect.succeed(data)), { data });
      assert.deepStrictEqual<unknown>(kept[0]?.chatIds, ["10001", "10002", "10003"]);
      assert.deepStrictEqual<unknown>(yield* replay(kept[0]?.text ?? ""), { status: 200, data });
      assert.isTrue(context.isReplayed);
    }),
  );

  it.effect.each([
    new LinkNotFound(),
    new Conflict({ reason: "chat_already_linked" }),
    InvalidParameter.one("gameId", "expected another"),
  ])("keeps the refusal %s, and replays it", (error) =>
    Effect.gen(function* () {
      const { answer, kept, replay } = bench();
      assert.strictEqual(yield* Effect.flip(answer(Effect.fail(error))), error);
      assert.deepStrictEqual(yield* Effect.flip(replay(kept[0]?.text ?? "")), error);
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
      assert.strictEqual(yield* contentOf({ chatId: "10001" }), content);
      assert.notStrictEqual(yield* contentOf({ chatId: "10002" }), content);
    }),
  );
});
