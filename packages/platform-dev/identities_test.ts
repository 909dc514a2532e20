import { ChatIdentity, GameIdentity } from "@accountlink/core";
import { decodeFixture } from "@accountlink/core/fixture";
import type { IdentityProvider, SignIn } from "@accountlink/core/platforms";
import { describe, expect, it } from "@effect/vitest";
import { Effect, Redacted } from "effect";
import { TestClock } from "effect/testing";
import type { Platform } from "./fault.ts";
import { type FaultBody, oauthClient, redirectUri, startServer } from "./test_server.ts";

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

  it.effect("returns the chosen user", () =>
    atServer(
      Effect.gen(function* () {
        const callback = yield* comeBack(platform);
        expect([...callback.keys()]).toEqual(["from", "code", "state"]);
        expect(yield* finish(platform, callback)).toEqual(user);
      }),
    ),
  );

  it.effect("fails when the user denies it", () =>
    atServer(
      Effect.gen(function* () {
        const callback = yield* comeBack(platform, { deny: "1" });
        const denied = { from: "here", error: "access_denied", state: signIn.state };
        expect(Object.fromEntries(callback)).toEqual(denied);
        expect(yield* refusal(platform, callback)).toBe("ProofDenied");
      }),
    ),
  );

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

  it.effect.each<[what: string, kept: Partial<SignIn>]>([
    ["verifier", { codeVerifier: "w".repeat(43) }],
    ["state", { state: "state of another browser" }],
    ["redirect_uri", { redirectUri: `${redirectUri}&more` }],
  ])("refuses another %s, which uses the code up", ([what, kept]) =>
    atServer(
      Effect.gen(function* () {
        const callback = yield* comeBack(platform);
        expect(yield* refusal(platform, callback, kept)).toBe("ProofInvalid");
        // The state is compared before anything is sent.
        const again = Effect.exit(finish(platform, callback));
        expect((yield* again)._tag).toBe(what === "state" ? "Success" : "Failure");
      }),
    ),
  );

  it.effect("needs the client's secret", () =>
    atServer(
      Effect.gen(function* () {
        const callback = yield* comeBack(platform);
        expect(yield* refusal(platform, callback)).toBe("PlatformUnavailable");
      }),
      { ...oauthClient, clientSecret: Redacted.make("another") },
    ),
  );

  it.effect.each<FaultBody>([{ mode: "down" }, { mode: "cut" }, { mode: "garbage" }])(
    "is unavailable while codes cannot be redeemed: %o",
    (fault) =>
      Effect.gen(function* () {
        const server = yield* started;
        yield* server.setFault({ ...fault, under: `/${platform}/oauth/token` });
        const failing = Effect.flatMap(comeBack(platform), (callback) => refusal(platform, callback));
        expect(yield* Effect.provide(failing, server.identities())).toBe("PlatformUnavailable");
        expect((yield* server.traffic).routes).toEqual({
          [`POST /${platform}/oauth/authorize`]: 1,
          [`POST /${platform}/oauth/token`]: 1,
        });
      }),
  );
});

describe("sign-in", () => {
  it.effect("lists the guilds of the user where it asks for them", () =>
    Effect.gen(function* () {
      const members = [{ chatId: users.chat, manager: true }];
      const guilds = [
        { id: "70001", name: "Engine Room", members },
        { id: "70002", bot: false, members: [{ chatId: users.chat }] },
        { id: "70003" },
      ];
      yield* TestClock.setTime(Date.now());
      const { platform } = yield* decodeFixture(
        JSON.stringify({ platform: { ...fixture.platform, guilds } }),
      );
      const { identities } = yield* startServer(platform);
      const asking = { ...signIn, withGuilds: true };
      const listed = Effect.gen(function* () {
        const identity = yield* ChatIdentity;
        const { url } = yield* identity.begin(asking);
        const { headers } = yield* Effect.promise(() =>
          fetch(url, { method: "POST", body: new URLSearchParams({ user: users.chat }), redirect: "manual" }),
        );
        return yield* identity.finish(asking, new URL(headers.get("location") ?? "").searchParams);
      });
      expect(yield* Effect.provide(listed, identities())).toEqual({
        userId: users.chat,
        guilds: [
          { id: "70001", name: "Engine Room", manager: true },
          { id: "70002", name: null, manager: false },
        ],
      });
    }),
  );

  it.effect("refuses another nonce at the game platform", () =>
    atServer(
      Effect.gen(function* () {
        const other = { nonce: "nonce of another sign-in" };
        expect(yield* refusal("game", yield* comeBack("game"), other)).toBe("ProofInvalid");
      }),
    ),
  );

  it.effect("refuses a code of the other platform", () =>
    atServer(
      Effect.gen(function* () {
        expect(yield* refusal("game", yield* comeBack("chat"))).toBe("ProofInvalid");
        expect(yield* refusal("chat", yield* comeBack("game"))).toBe("ProofInvalid");
      }),
    ),
  );
});
