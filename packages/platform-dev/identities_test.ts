import { ChatIdentity, GameIdentity } from "@accountlink/core";
import { decodeFixture } from "@accountlink/core/fixture";
import type { IdentityProvider, SignIn } from "@accountlink/core/platforms";
import { describe, expect, it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import type { Platform } from "./fault.ts";
import { oauthClient, redirectUri, startServer } from "./test_server.ts";

const users = { chat: "10001", game: "1" };

const fixture = { platform: { chatUsers: [{ id: users.chat }], gameUsers: [{ id: users.game }] } };

const started = Effect.gen(function* () {
  // The client's library reads the times of ID tokens by the machine's clock.
  yield* TestClock.setTime(Date.now());
  const { platform } = yield* decodeFixture(JSON.stringify(fixture));
  return yield* startServer(platform);
});

type Identities = ChatIdentity | GameIdentity;

/** Runs a test at a server of its own. */
const atServer = <E>(test: Effect.Effect<void, E, Identities>, client = oauthClient) =>
  Effect.flatMap(started, ({ identities }) => Effect.provide(test, identities(client)));

const signIn: SignIn = {
  redirectUri,
  state: "state of the browser",
  codeVerifier: "v".repeat(43),
  nonce: "nonce of the sign-in",
  guildId: null,
};

const providers: Record<Platform, Effect.Effect<IdentityProvider<string>, never, Identities>> = {
  chat: ChatIdentity,
  game: GameIdentity,
};

/** From the beginning to where the browser comes back, with its query. */
const comeBack = Effect.fnUntraced(function* (
  platform: Platform,
  form: Record<string, string> = { user: users[platform] },
) {
  const { url } = yield* (yield* providers[platform]).begin(signIn);
  const body = new URLSearchParams(form);
  const { status, headers } = yield* Effect.promise(() =>
    fetch(url, { method: "POST", body, redirect: "manual" }),
  );
  const location = headers.get("location") ?? "";
  expect([status, location.startsWith(redirectUri)]).toEqual([302, true]);
  return new URL(location).searchParams;
});

const finish = (platform: Platform, callback: URLSearchParams, kept: Partial<SignIn> = {}) =>
  Effect.flatMap(providers[platform], (provider) => provider.finish({ ...signIn, ...kept }, callback));

const refusal = (platform: Platform, callback: URLSearchParams, kept?: Partial<SignIn>) =>
  Effect.map(Effect.flip(finish(platform, callback, kept)), ({ _tag }) => _tag);

describe.each<Platform>(["chat", "game"])("sign-in at the %s platform", (platform) => {
  const user = { userId: users[platform] };

  it.effect("accepts a code once, even from concurrent callers", () =>
    atServer(
      Effect.gen(function* () {
        const callback = yield* comeBack(platform);
        const once = Effect.match(finish(platform, callback), {
          onFailure: ({ _tag }) => _tag,
          onSuccess: ({ userId }) => userId,
        });
        const outcomes = yield* Effect.all([once, once, once, once], { concurrency: "unbounded" });
        const refused = Array.from({ length: 3 }, () => "ProofInvalid");
        expect(outcomes.toSorted()).toEqual([user.userId, ...refused]);
        expect(yield* refusal(platform, callback)).toBe("ProofInvalid");
      }),
    ),
  );

  it.effect("accepts a code for a minute", () =>
    atServer(
      Effect.gen(function* () {
        const [early, late] = [yield* comeBack(platform), yield* comeBack(platform)];
        yield* TestClock.adjust(59_999);
        expect(yield* finish(platform, early)).toEqual(user);
        yield* TestClock.adjust(1);
        expect(yield* refusal(platform, late)).toBe("ProofInvalid");
      }),
    ),
  );
});

describe("sign-in", () => {
  it.effect("refuses a code of the other platform", () =>
    atServer(
      Effect.gen(function* () {
        expect(yield* refusal("game", yield* comeBack("chat"))).toBe("ProofInvalid");
        expect(yield* refusal("chat", yield* comeBack("game"))).toBe("ProofInvalid");
      }),
    ),
  );
});
