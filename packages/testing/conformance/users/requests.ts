/** Tests how erasures of a user change stored requests with idempotency keys. */
import type { StoragePorts } from "@accountlink/core";
import { Effect } from "effect";
import { expectEqual, expectThat } from "../expect.ts";
import { bob, chess } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserFixture } from "./user_fixture.ts";

const erased = { fingerprint: "content", answer: null, isErased: true };

export const requests: Cases<StoragePorts> = {
  "erase replaces stored answers that name the user until they expire, and keeps other answers": Effect.gen(
    function* () {
      const user = yield* newUserFixture;
      const { chatId } = user;
      for (const named of [[bob, chatId], [chatId]]) {
        const claim = yield* user.claim();
        yield* user.commit(claim, Effect.void, ...named);
        yield* user.erase([]);
        expectEqual(yield* user.retry(claim), erased);
        expectEqual(yield* user.retry(claim, "other", 99), erased);
        expectEqual(yield* user.retry(claim, "other", 100), null);
        expectEqual(yield* user.retry(claim, "other", 101), {
          ...erased,
          fingerprint: "other",
          isErased: false,
        });
      }
      for (const named of [[bob], []]) {
        const claim = yield* user.claim();
        yield* user.commit(claim, Effect.void, ...named);
        yield* user.erase([]);
        expectThat((yield* user.retry(claim))?.answer !== null, "the answer of others is kept");
      }
    },
  ),

  "erase takes the idempotency key only from unfinished requests that name the user": Effect.gen(
    function* () {
      const user = yield* newUserFixture;
      const { chatId } = user;
      const { global } = yield* user.newScopes;
      const theirs = [yield* user.claim(chatId), yield* user.claim(bob, chatId)];
      const others = [yield* user.claim(bob), yield* user.claim()];
      yield* user.erase([]);
      for (const claim of theirs) {
        expectEqual(yield* user.commit(claim, user.set(global, chess), chatId), false);
        expectEqual(yield* user.recordOf(global), null);
        yield* user.release(claim);
        expectEqual(yield* user.retry(claim, "content", 99), erased);
      }
      for (const claim of others) expectEqual(yield* user.commit(claim, Effect.void), true);
    },
  ),

  "erase marks requests that name the user and ended without an answer as erased": Effect.gen(function* () {
    const user = yield* newUserFixture;
    const [released, over, others] = [
      yield* user.claim(user.chatId),
      yield* user.claim(user.chatId),
      yield* user.claim(bob),
    ];
    for (const claim of [released, others]) yield* user.release(claim);
    yield* user.erase([]);
    for (const claim of [released, over]) expectEqual(yield* user.retry(claim, "content", 50), erased);
    expectEqual(yield* user.retry(others), null);
  }),

  "erase concurrent with commit: the user's link is gone, and the request is erased": Effect.gen(
    function* () {
      const user = yield* newUserFixture;
      const { chatId } = user;
      for (let round = 0; round < 10; round++) {
        const { account, global } = yield* user.newScopes;
        const claims = [yield* user.claim(chatId), yield* user.claim(chatId)];
        const commits = claims.map((claim) => user.commit(claim, user.set(global, chess), chatId));
        yield* Effect.all([...commits, user.eraseAll], { concurrency: "unbounded" });
        expectEqual(yield* user.recordOf(global), null);
        const { entries } = yield* user.find;
        expectEqual(entries, []);
        for (const claim of claims) expectEqual(yield* user.retry(claim), erased);
        expectEqual(yield* user.chatsOf(global, chess), new Map(), `Round ${round} of ${account.name}`);
      }
    },
  ),

  "erase concurrent with a whole request: its answer remains exactly if its write remains": Effect.gen(
    function* () {
      const user = yield* newUserFixture;
      const { chatId } = user;
      for (let round = 0; round < 10; round++) {
        const { global } = yield* user.newScopes;
        const request = Effect.gen(function* () {
          const claim = yield* user.claim(chatId);
          yield* user.commit(claim, user.set(global, chess), chatId);
          return claim;
        });
        const [claim] = yield* Effect.all([request, user.eraseAll], { concurrency: "unbounded" });
        const record = yield* user.recordOf(global);
        const found = yield* user.retry(claim);
        expectEqual([found?.isErased, found?.answer === null], [record === null, record === null]);
        yield* user.eraseAll;
      }
    },
  ),
};
