import { expect, testWith } from "@accountlink/test-servers/effect";
import { Deferred, Effect } from "effect";
import { AccountRequests } from "./account_requests.ts";

const test = testWith(AccountRequests.layer);

test("an account has four requests in work, and another account none that waits for them", function* () {
  const requests = yield* AccountRequests;
  const end = yield* Deferred.make<void>();
  const started: Array<string> = [];
  const ask = (account: string) =>
    Effect.forkChild(
      requests.answer(
        account,
        Effect.suspend(() => {
          started.push(account);
          return Deferred.await(end);
        }),
      ),
      { startImmediately: true },
    );
  for (let count = 0; count < 20; count++) yield* ask("ada");
  expect(started).toHaveLength(4);
  yield* ask("bob");
  expect(started.at(-1)).toBe("bob");
});
