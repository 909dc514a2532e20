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
    for (const { request, answer } of named) yield* user.commit(request, Effect.void, ...answer);
    yield* user.commit(other, Effect.void, bob);
    yield* user.erase([]);
    for (const { request } of named) {
      const { fingerprint, answer, isErased, endsAt } = { ...(yield* user.findRequest(request)) };
      expectEqual([fingerprint, answer, isErased, endsAt], ["content", null, true, 100]);
      expectEqual(yield* user.commit({ ...request, at: 99 }, Effect.void), false);
      expectEqual(yield* user.commit({ ...request, at: 100, endsAt: 200 }, Effect.void), true);
      expectEqual((yield* user.findRequest(request))?.isErased, false);
    }
    expectThat(typeof (yield* user.findRequest(other))?.answer === "string", "the answer of others is kept");
  },

  "erase concurrent with a request: its answer remains exactly if its write remains": function* () {
    const user = yield* newUserSteps;
    const { chatId } = user;
    for (let round = 0; round < 10; round++) {
      const { global } = yield* user.newScopes;
      const request = newRequest({ chatIds: [chatId] });
      const commit = user.commit(request, user.set(global, chess), chatId);
      yield* Effect.all([commit, user.eraseAll], atOnce);
      const record = yield* user.recordOf(global);
      const found = yield* user.findRequest(request);
      expectEqual([found?.isErased, found?.answer === null], [record === null, record === null]);
      yield* user.eraseAll;
    }
  },
};
