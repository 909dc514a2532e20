import { KeyAuthenticator, Pid, RequestLimits, SignIns } from "@accountlink/core";
import { Members } from "@accountlink/core/accounts";
import { SecurityLog } from "@accountlink/core/audit";
import { InvalidSession } from "@accountlink/core/errors";
import { PlatformRefusals } from "@accountlink/core/platforms";
import { bounds, RequestPlaces, turnOwner } from "@accountlink/core/turns";
import { UsageMeter } from "@accountlink/core/usage";
import { type HttpRequest, HttpSettings } from "@accountlink/http/for_pages";
import { DashboardCommunities } from "@accountlink/http-api";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { makeKey } from "@accountlink/testing";
import { Effect, identity, Layer, Stream } from "effect";
import { makeOperation } from "./api_pipeline.ts";

const pid = Pid.make(`pid_${"1".repeat(20)}`);
const keyOf = (account: string) => makeKey({ kind: "global", account, pid }, { access: "manage" });
const unlimited = { window: null, day: null, addressDay: null };
const quota = { perWindow: null, windowMs: 0, daily: null, verifyDaily: null };

/** Whose turns the searches for sign-ins took. */
const owners: Array<string> = [];

const test = testWith(
  Layer.mergeAll(
    Layer.succeed(HttpSettings, { publicUrl: "http://localhost", trustedProxies: [] }),
    // The secret of a key is the name of its account.
    Layer.mock(KeyAuthenticator)({
      authenticate: (account) => Effect.succeed({ key: keyOf(account ?? ""), quota, endsAt: null }),
    }),
    Layer.mock(RequestLimits)({
      admitBeside: null,
      admitAddress: () => Effect.void,
      admit: () => Effect.succeed({ report: unlimited, refusal: null }),
    }),
    Layer.mock(PlatformRefusals)({ chargeTo: () => identity }),
    Layer.mock(SecurityLog)({ noteRefusal: () => Effect.void, logKeyless: () => Effect.void }),
    Layer.mock(UsageMeter)({ count: () => {} }),
    Layer.mock(SignIns)({
      find: () =>
        Effect.flatMap(turnOwner, (owner) => {
          owners.push(owner);
          return Effect.fail(new InvalidSession());
        }),
    }),
    Layer.mock(Members)({
      managing: ({ scope }, requestId) =>
        Effect.succeed({ account: { name: scope.account }, requestId } as never),
    }),
    RequestPlaces.layer,
  ),
);

/** A request of a key that sends its body, or the beginning of one. */
const requestOf = (account: string, isWhole: boolean): HttpRequest => ({
  method: "PATCH",
  url: `/dashboard/api/scopes/${pid}`,
  remoteAddress: undefined,
  header: (name) => ({ authorization: `Bearer ${account}`, "content-length": "2" })[name as string],
  readBody: () => (isWhole ? Effect.succeed(new TextEncoder().encode("{}")) : Effect.never),
  streamBody: () => Stream.never,
});

test("a request with a key has a place from when its body is there", function* () {
  const operation = yield* makeOperation;
  const started: Array<string> = [];
  const { json } = operation(DashboardCommunities.patchScope, ({ owner }) => {
    started.push(owner.account.name);
    return Effect.never;
  });
  const send = (account: string, isWhole: boolean) =>
    Effect.forkChild(json.answer(requestOf(account, isWhole), { pid }), { startImmediately: true });
  for (let count = 0; count < 20; count++) yield* send("ada", false);
  for (let count = 0; count < 20; count++) yield* send("ada", true);
  expect(started).toEqual(Array.from({ length: bounds.dearRequests }, () => "ada"));
  yield* send("bob", true);
  expect(started.at(-1)).toBe("bob");
});

test("the sign-in of a request is found in a turn of its client address", function* () {
  const operation = yield* makeOperation;
  const { json } = operation(DashboardCommunities.patchScope, () => Effect.never);
  const request = { ...requestOf("", true), remoteAddress: "203.0.113.7", header: () => undefined };
  yield* json.answer(request, { pid });
  expect(owners).toEqual(["visitor 203.0.113.7"]);
});
