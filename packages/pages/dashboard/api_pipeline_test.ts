import { KeyAuthenticator, OwnedKeys, Pid, RequestLimits, SignIns } from "@accountlink/core";
import { Members } from "@accountlink/core/accounts";
import { SecurityLog } from "@accountlink/core/audit";
import { PlatformRefusals } from "@accountlink/core/platforms";
import { AccountRequests } from "@accountlink/core/turns";
import { UsageMeter } from "@accountlink/core/usage";
import { type HttpRequest, HttpSettings } from "@accountlink/http/for_pages";
import { DashboardCommunities } from "@accountlink/http-api";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { makeKey } from "@accountlink/testing";
import { Effect, identity, Layer, Stream } from "effect";
import { TestClock } from "effect/testing";
import { PageTurns } from "../page_turns.ts";
import { makeOperation } from "./api_pipeline.ts";

const pid = Pid.make(`pid_${"1".repeat(20)}`);
const keyOf = (account: string) => makeKey({ kind: "global", account, pid }, { access: "manage" });
const unlimited = { window: null, day: null, addressDay: null };
const quota = { perWindow: null, windowMs: 0, daily: null, verifyDaily: null };

const test = testWith(
  Layer.mergeAll(
    Layer.succeed(HttpSettings, { publicUrl: "http://localhost", trustedProxies: [] }),
    // The secret of a key is the name of its account.
    Layer.mock(KeyAuthenticator)({
      authenticate: (account) => Effect.succeed({ key: keyOf(account ?? ""), quota, endsAt: null }),
    }),
    Layer.mock(RequestLimits)({ admit: () => Effect.succeed({ report: unlimited, refusal: null }) }),
    Layer.mock(PlatformRefusals)({ chargeTo: () => identity }),
    Layer.mock(SecurityLog)({ noteRefusal: () => Effect.void }),
    Layer.mock(UsageMeter)({ count: () => {} }),
    Layer.mock(SignIns)({}),
    Layer.mock(Members)({}),
    Layer.mock(OwnedKeys)({}),
    AccountRequests.layer,
    Layer.effect(PageTurns, PageTurns.make),
  ),
);

test("bodies of requests with keys are read in the turn of the account, four at a time", function* () {
  const operation = yield* makeOperation;
  const { json } = operation(DashboardCommunities.patchScope, () => Effect.die("No body arrives"));
  const read: Array<string> = [];
  const send = (account: string) => {
    const request: HttpRequest = {
      method: "PATCH",
      url: `/dashboard/api/scopes/${pid}`,
      remoteAddress: undefined,
      header: (name) => ({ authorization: `Bearer ${account}`, "content-length": "2" })[name as string],
      readBody: () =>
        Effect.andThen(
          Effect.sync(() => read.push(account)),
          Effect.never,
        ),
      streamBody: () => Stream.never,
    };
    return Effect.forkChild(json.answer(request, { pid }), { startImmediately: true });
  };
  for (const account of ["ada", "ada", "ada", "ada", "ada", "ada", "bob"]) yield* send(account);
  expect(read).toEqual(["ada", "ada", "ada", "ada", "bob"]);
  // The slow ones leave their places.
  yield* TestClock.adjust("1 second");
  expect(read).toHaveLength(7);
});
