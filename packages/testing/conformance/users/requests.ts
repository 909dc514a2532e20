/** Tests how erasures of a user change stored requests with idempotency keys. */
import type { StoragePorts } from "@accountlink/core";
import { Effect } from "effect";
import { expectEqual, expectThat } from "../expect.ts";
import { newRequest } from "../idempotency/idempotency_steps.ts";
import { atOnce, bob, chess } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "./user_steps.ts";

export const requests: Cases<StoragePorts> = {
  "erase removes answers of requests that name the user, and keeps their keys until they end": function* () {
    const user = yield* newUserSteps;
    const { chatId } = user;
    const named = [
      { request: newRequest({ chatIds: [bob, chatId] }), answer: [] },
      { request: newRequest({ chatIds: [] }), answer: [chatId] },
    ];
    const other = newRequest({ chatIds: [bob] });
    for (const { request, answer } of named) yield* user.keep(request, ...answer);
    yield* user.keep(other, bob);
    yield* user.erase([]);
    for (const { request } of named) {
      const { fingerprint, answer, endsAt } = { ...(yield* user.findRequest(request)) };
      expectEqual([fingerprint, answer, endsAt], ["content", null, 100]);
      expectEqual(yield* user.keep({ ...request, at: 99 }), false);
      expectEqual(yield* user.keep({ ...request, at: 100, endsAt: 200 }), true);
      expectThat((yield* user.findRequest(request))?.answer !== null, "the new answer is kept");
    }
    expectThat(typeof (yield* user.findRequest(other))?.answer === "string", "the answer of others is kept");
  },

  "erase concurrent with a request: its answer remains exactly if its write remains": function* () {
    const user = yield* newUserSteps;
    const { chatId } = user;
    for (let round = 0; round < 10; round++) {
      const { global } = yield* user.newScopes;
      const request = newRequest({ chatIds: [chatId] });
      const commit = user.setOnce(global, chess, request);
      yield* Effect.all([commit, user.eraseAll], atOnce);
      const record = yield* user.recordOf(global);
      const found = yield* user.findRequest(request);
      expectEqual(found?.answer === null, record === null);
      yield* user.eraseAll;
    }
  },
};
