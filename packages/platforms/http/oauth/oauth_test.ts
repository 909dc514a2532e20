import { inspect } from "node:util";
import { ChatId, GameId, GuildId, PlatformUnavailable } from "@accountlink/core";
import type { IdentityProvider, SignIn } from "@accountlink/core/platforms";
import {
  type HttpAnswering,
  type IdTokenParts,
  makeIdTokenSigner,
  startHttpServer,
} from "@accountlink/test-servers";
import { describe, expect, testLiveWith, testWith } from "@accountlink/test-servers/effect";
import { Deferred, Duration, Effect, Logger, Redacted, Schema } from "effect";
import { FetchHttpClient } from "effect/http";
import { TestClock } from "effect/testing";
import { asUnavailable } from "../resilience/request_failed.ts";
import { identityProvider, type OAuthOptions } from "./oauth.ts";
import { callback as redirected, signIn } from "./test_sign_in.ts";

const clientId = "accountlink client";
const clientSecret = "s3cret/+";
const guildId = Schema.decodeSync(GuildId)("700000000000000001");
const accessToken = "access-token-of-ada";

/** @param parameters in place of the usual ones */
const callback = (parameters: Record<string, string> = {}) =>
  new URLSearchParams({ ...Object.fromEntries(redirected), ...parameters });

const tokens = (more: object = {}) => ({
  body: { access_token: accessToken, token_type: "Bearer", expires_in: 900, ...more },
});

/** Signs an ID token of user `1` for the sign-in `signIn`. `parts` changes header fields and claims. */
type IdTokenOf = (parts: Partial<IdTokenParts>) => Promise<string>;

interface Routes {
  readonly token?: (idTokenOf: IdTokenOf) => HttpAnswering | Promise<HttpAnswering>;
  readonly user?: () => HttpAnswering | Promise<HttpAnswering>;
  readonly keys?: () => HttpAnswering;
}

/**
 * Starts a platform and makes its identity provider. The chat user has the ID `100001`. ID tokens are for the game user
 * `1`.
 */
const setUp = Effect.fnUntraced(function* (
  kind: "userInfo" | "idToken",
  routes: Routes = {},
  overrides: Partial<OAuthOptions<string>> = {},
) {
  const signer = yield* Effect.promise(makeIdTokenSigner);
  const idTokenOf: IdTokenOf = ({ header = {}, claims }) =>
    signer.sign({
      header,
      claims: { iss: "https://platform.example", aud: clientId, sub: "1", nonce: signIn.nonce, ...claims },
    });
  const {
    token = async (sign) => tokens(kind === "idToken" ? { id_token: await sign({}) } : {}),
    user = () => ({ body: { id: "100001", username: "ada" } }),
    keys = () => ({ body: { keys: [signer.publicKey] } }),
  } = routes;
  const answers: Record<string, () => HttpAnswering | Promise<HttpAnswering>> = {
    "/token": () => token(idTokenOf),
    "/user": user,
    [`/member/${guildId}/100001`]: () => ({ status: 503 }),
    "/keys": keys,
  };
  const server = yield* startHttpServer(({ path }) => answers[path]?.() ?? "cut");
  const provider: IdentityProvider<string> = yield* identityProvider<string>({
    platform: "test_sign_in",
    operation: "Test.finish",
    issuer: "https://platform.example",
    authorizationUrl: "https://platform.example/authorize?theme=dark",
    tokenUrl: `${server.url}/token`,
    clientId,
    clientSecret: Redacted.make(clientSecret),
    clientAuthentication: "basic",
    scopes: ["openid", "profile"],
    proof:
      kind === "idToken"
        ? { kind, jwksUrl: `${server.url}/keys`, algorithms: ["ES256"] }
        : { kind, url: `${server.url}/user` },
    membership: {
      scope: "guilds.members",
      isMember: (client, guild, userId) =>
        client.get(`${server.url}/member/${guild}/${userId}`).pipe(
          Effect.map(({ status }) => status === 200),
          asUnavailable("Test.isMember"),
        ),
    },
    userId: kind === "idToken" ? GameId : ChatId,
    resilience: { backoff: Duration.millis(1) },
    ...overrides,
  });
  const asked = (path: string) => server.heard.filter((request) => request.path === path);
  return { provider, asked };
});

const test = testLiveWith(FetchHttpClient.layer);

test("a sign-in starts with a PKCE challenge, and a nonce if the platform has ID tokens", function* () {
  const expected = {
    theme: "dark",
    response_type: "code",
    client_id: clientId,
    redirect_uri: signIn.redirectUri,
    scope: "openid profile",
    state: signIn.state,
    // RFC 7636, appendix B, has this challenge for the code verifier that `signIn` uses.
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  };
  const begun = Effect.fnUntraced(function* (kind: "userInfo" | "idToken") {
    const { provider } = yield* setUp(kind);
    const url = new URL((yield* provider.begin(signIn)).url);
    expect(url.origin + url.pathname).toBe("https://platform.example/authorize");
    return Object.fromEntries(url.searchParams);
  });
  expect(yield* begun("userInfo")).toEqual(expected);
  expect(yield* begun("idToken")).toEqual({ ...expected, nonce: signIn.nonce });
});

test("a sign-in returns the user of the access token", function* () {
  const { provider, asked } = yield* setUp("userInfo");
  expect(yield* provider.finish(signIn, callback())).toEqual({ userId: "100001" });

  const [request] = asked("/token");
  expect(request?.method).toBe("POST");
  expect(request?.headers["content-type"]).toMatch(/^application\/x-www-form-urlencoded/);
  const credentials = Buffer.from("accountlink+client:s3cret%2F%2B").toString("base64");
  expect(request?.headers.authorization).toBe(`Basic ${credentials}`);
  expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
    grant_type: "authorization_code",
    code: "code-1",
    redirect_uri: signIn.redirectUri,
    code_verifier: signIn.codeVerifier,
  });
  expect(asked("/user").map(({ headers }) => headers.authorization)).toEqual([`Bearer ${accessToken}`]);
});

test("a sign-in returns the user of the ID token, and requests the keys once", function* () {
  const { provider, asked } = yield* setUp("idToken");
  expect(yield* provider.finish(signIn, callback())).toEqual({ userId: "1" });
  expect(yield* provider.finish(signIn, callback({ code: "code-2" }))).toEqual({ userId: "1" });
  expect(asked("/keys")).toHaveLength(1);
  expect(asked("/user")).toEqual([]);
});

const asking: SignIn = { ...signIn, withGuilds: true };
test("a sign-in asks for the user and for the guilds at once", function* () {
  const listed = yield* Deferred.make<void>();
  const user = async () => {
    await Effect.runPromise(Deferred.await(listed));
    return { body: { id: "100001" } };
  };
  const list = () => Effect.as(Deferred.succeed(listed, undefined), []);
  const { provider } = yield* setUp("userInfo", { user }, { guilds: { scope: "guilds", list } });
  expect(yield* provider.finish({ ...signIn, withGuilds: true }, callback())).toEqual({
    userId: "100001",
    guilds: [],
  });
});

const listing = (list: NonNullable<OAuthOptions<unknown>["guilds"]>["list"]) =>
  setUp("userInfo", {}, { guilds: { scope: "guilds", list } });

test("a sign-in succeeds without the user's guilds if the platform fails to list them", function* () {
  const { provider } = yield* listing(() => new PlatformUnavailable({ operation: "Test.list" }));
  expect(yield* provider.finish(asking, callback())).toEqual({ userId: "100001", guilds: undefined });
});

test("if membership lookups fail, sign-ins succeed, and only the circuit of these lookups opens", function* () {
  const resilience = { retries: 0, failuresToOpen: 3 };
  const { provider, asked } = yield* setUp("userInfo", {}, { resilience });
  const finish = provider.finish({ ...signIn, guildId }, callback());
  const expected = { userId: "100001", isMember: undefined };
  const atOnce = yield* Effect.all([finish, finish, finish], { concurrency: "unbounded" });
  expect(atOnce).toEqual([expected, expected, expected]);
  expect(yield* finish).toEqual(expected);
  expect(asked(`/member/${guildId}/100001`)).toHaveLength(3);
  expect(asked("/token")).toHaveLength(4);
});

const proofs = [{ kind: "userInfo" }, { kind: "idToken" }] as const;

describe.each(proofs)("a callback ($kind)", ({ kind }) => {
  test.each<[parameters: Record<string, string>, failure: object]>([
    [{ error: "access_denied" }, { _tag: "ProofDenied" }],
    [{ error: "access_denied", state: "another" }, { _tag: "ProofInvalid" }],
    [{ state: "another" }, { _tag: "ProofInvalid", reason: "OAUTH_INVALID_RESPONSE" }],
    [{ state: "" }, { _tag: "ProofInvalid", reason: "OAUTH_INVALID_RESPONSE" }],
    [{ code: "" }, { _tag: "ProofInvalid" }],
    [{ iss: "https://another.example" }, { _tag: "ProofInvalid", reason: "OAUTH_INVALID_RESPONSE" }],
    [{ error: "invalid_scope" }, { _tag: "ProofInvalid", reason: "invalid_scope" }],
    [{ error: "<b>hello 203.0.113.7</b>" }, { _tag: "ProofInvalid", reason: "unknown" }],
    // The browser can forge the error in a callback, so even `temporarily_unavailable` does not prove that the platform
    // is down.
    [{ error: "temporarily_unavailable" }, { _tag: "ProofInvalid", reason: "temporarily_unavailable" }],
  ])("a callback with %o fails without redeeming a code", function* ([parameters, failure]) {
    const { provider, asked } = yield* setUp(kind);
    expect(yield* Effect.flip(provider.finish(signIn, callback(parameters)))).toMatchObject(failure);
    expect(asked("/token")).toEqual([]);
  });

  test("a callback with two states fails", function* () {
    const { provider, asked } = yield* setUp(kind);
    const twice = callback();
    twice.append("state", signIn.state);
    expect(yield* Effect.flip(provider.finish(signIn, twice))).toMatchObject({ _tag: "ProofInvalid" });
    expect(asked("/token")).toEqual([]);
  });
});

const refused = (error: string, status = 400, headers = {}) => ({ status, headers, body: { error } });
const wrongSecret = refused("invalid_client", 401, { "www-authenticate": 'Basic realm="x"' });

describe.each(proofs)("a code ($kind)", ({ kind }) => {
  test.each<[answer: HttpAnswering, failure: object]>([
    [refused("invalid_grant"), { _tag: "ProofInvalid", reason: "invalid_grant" }],
    [refused("access_denied"), { _tag: "ProofDenied" }],
    [refused("invalid_client", 401), { _tag: "PlatformUnavailable" }],
    [wrongSecret, { _tag: "PlatformUnavailable", cause: { reason: "status", status: 401 } }],
    [{ status: 500 }, { _tag: "PlatformUnavailable", cause: { reason: "status", status: 500 } }],
    [{ status: 404, body: "<h1>Not Found</h1>" }, { _tag: "PlatformUnavailable" }],
    [{ status: 302, headers: { location: "/user" } }, { _tag: "PlatformUnavailable" }],
    [{ body: "<!doctype html>" }, { _tag: "PlatformUnavailable", cause: { reason: "unreadable" } }],
    [{ body: {} }, { _tag: "PlatformUnavailable", cause: { reason: "unreadable" } }],
    ["cut", { _tag: "PlatformUnavailable", cause: { reason: "connection" } }],
  ])("redeeming a code fails after one attempt for the response %o", function* ([answer, failure]) {
    const { provider, asked } = yield* setUp(kind, { token: () => answer });
    const error = yield* Effect.flip(provider.finish(signIn, callback()));
    expect(error).toMatchObject(failure);
    expect(asked("/token")).toHaveLength(1);
    expect(asked("/user")).toEqual([]);
  });
});

test.each<[answer: HttpAnswering, asked: number, failure: object]>([
  [{ status: 401 }, 1, { _tag: "PlatformUnavailable", cause: { reason: "status", status: 401 } }],
  [{ status: 503 }, 3, { _tag: "PlatformUnavailable", cause: { reason: "status", status: 503 } }],
  [{ body: "<!doctype html>" }, 1, { _tag: "PlatformUnavailable", cause: { reason: "unreadable" } }],
  [{ body: {} }, 1, { _tag: "PlatformUnavailable", cause: { reason: "unreadable" } }],
  [{ body: { id: "root" } }, 1, { _tag: "ProofInvalid", reason: "user_id" }],
])("the user of an access token is unknown if the lookup gets %o", function* ([answer, times, failure]) {
  const { provider, asked } = yield* setUp("userInfo", { user: () => answer });
  expect(yield* Effect.flip(provider.finish(signIn, callback()))).toMatchObject(failure);
  expect([asked("/token").length, asked("/user").length]).toEqual([1, times]);
});

const now = Math.floor(Date.now() / 1_000);

const signed =
  (parts: Partial<IdTokenParts>): NonNullable<Routes["token"]> =>
  async (idTokenOf) =>
    tokens({ id_token: await idTokenOf(parts) });

test.each<[what: string, token: Routes["token"]]>([
  ["from another platform", signed({ claims: { iss: "https://another.example" } })],
  ["for another application", signed({ claims: { aud: "another" } })],
  ["of another sign-in", signed({ claims: { nonce: "another" } })],
  ["without the nonce", signed({ claims: { nonce: undefined } })],
  ["that is over", signed({ claims: { iat: now - 1_000, exp: now - 900 } })],
  ["of a user who cannot be one", signed({ claims: { sub: "root" } })],
  ["with another algorithm", signed({ header: { alg: "none" } })],
  ["of a key that the platform does not have", signed({ header: { kid: "another" } })],
  [
    "with a signature by another key",
    async (idTokenOf) => {
      const another = await makeIdTokenSigner();
      const [header, claims] = (await idTokenOf({})).split(".");
      const [, , signature] = (await another.sign({ claims: {} })).split(".");
      return tokens({ id_token: [header, claims, signature].join(".") });
    },
  ],
  [
    "whose claims were changed",
    async (idTokenOf) => {
      const [header, , signature] = (await idTokenOf({})).split(".");
      const [, claims] = (await idTokenOf({ claims: { sub: "2" } })).split(".");
      return tokens({ id_token: [header, claims, signature].join(".") });
    },
  ],
])("an ID token is refused: %s", function* ([, token = () => "cut"]) {
  const { provider } = yield* setUp("idToken", { token });
  const error = yield* Effect.flip(provider.finish(signIn, callback()));
  expect(error).toMatchObject({ _tag: "ProofInvalid" });
});

/** What issuers write where OAuth wants a value or nothing. */
const nulls = { refresh_token: null, expires_in: null, scope: null, token_type: undefined };

test.each<[kind: "userInfo" | "idToken", more: object]>(
  proofs.flatMap(({ kind }) => [
    [kind, nulls],
    [kind, { ...nulls, refresh_token: "", expires_in: "", scope: "", token_type: "" }],
    [kind, { token_type: null, expires_in: "soon", refresh_token: 7, scope: ["a"] }],
  ]),
)("what a sign-in (%s) does not need of an answer may be %o", function* ([kind, more]) {
  const token: Routes["token"] = async (sign) =>
    tokens({ ...(kind === "idToken" && { id_token: await sign({}) }), ...more });
  const { provider } = yield* setUp(kind, { token });
  expect((yield* provider.finish(signIn, callback())).userId).toBe(kind === "idToken" ? "1" : "100001");
});

test("a user may be a number, also in an ID token, whose signature is checked all the same", function* () {
  const ofUser = yield* setUp("userInfo", { user: () => ({ body: { id: 100_001 } }) });
  expect((yield* ofUser.provider.finish(signIn, callback())).userId).toBe("100001");
  const numbered = signed({ claims: { sub: 1 } });
  const ofToken = yield* setUp("idToken", { token: numbered });
  expect((yield* ofToken.provider.finish(signIn, callback())).userId).toBe("1");
  const forged = yield* setUp("idToken", {
    token: async (sign) => {
      const [header, , signature] = (await sign({ claims: { sub: 1 } })).split(".");
      const [, claims] = (await sign({ claims: { sub: 2 } })).split(".");
      return tokens({ id_token: [header, claims, signature].join(".") });
    },
  });
  const refusal = yield* Effect.flip(forged.provider.finish(signIn, callback()));
  expect(refusal).toMatchObject({ _tag: "ProofInvalid" });
});

test.each<[field: string, token: Routes["token"]]>([
  ["id_token", () => tokens()],
  ["id_token", () => tokens({ id_token: null })],
  ["sub", signed({ claims: { sub: undefined } })],
  ["sub", signed({ claims: { sub: null } })],
  ["sub", signed({ claims: { sub: 2 ** 60 } })],
  ["exp", signed({ claims: { exp: "soon" } })],
])(
  "an answer without a usable %s is an outage, of which one line an hour names the field",
  function* ([field, token = () => "cut" as const]) {
    const { provider } = yield* setUp("idToken", { token });
    const lines: Array<string> = [];
    const logger = Logger.make(({ message }) => void lines.push(String(message)));
    const finish = Effect.flip(provider.finish(signIn, callback())).pipe(
      Effect.provide(Logger.layer([logger])),
    );
    expect(yield* finish).toMatchObject({ _tag: "PlatformUnavailable", cause: { reason: "unreadable" } });
    yield* finish;
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`no right "${field}"`);
  },
);

test("keys with nulls are used", function* () {
  const signer = yield* Effect.promise(makeIdTokenSigner);
  const claims = { iss: "https://platform.example", aud: clientId, sub: "1", nonce: signIn.nonce };
  const { provider } = yield* setUp("idToken", {
    token: async () => tokens({ id_token: await signer.sign({ claims }) }),
    keys: () => ({ body: { keys: [{ ...signer.publicKey, use: null, key_ops: null, x5t: null }] } }),
  });
  expect((yield* provider.finish(signIn, callback())).userId).toBe("1");
});

test.each<[answer: HttpAnswering, asked: number]>([
  [{ status: 503 }, 3],
  [{ body: "<!doctype html>" }, 1],
  ["cut", 3],
])("an ID token is not accepted when the request for the keys gets %o", function* ([answer, times]) {
  const { provider, asked } = yield* setUp("idToken", { keys: () => answer });
  const error = yield* Effect.flip(provider.finish(signIn, callback()));
  expect(error).toMatchObject({ _tag: "PlatformUnavailable" });
  expect(asked("/keys")).toHaveLength(times);
});

/** Makes a platform whose key changes, on the test clock. Tokens name the key that is current. */
const changingKeys = Effect.gen(function* () {
  const second = yield* Effect.promise(makeIdTokenSigner);
  let current = "key-1";
  const { provider, asked } = yield* setUp("idToken", {
    token: async () =>
      tokens({
        id_token: await second.sign({
          header: { kid: current },
          claims: { iss: "https://platform.example", aud: clientId, sub: "1", nonce: signIn.nonce },
        }),
      }),
    keys: () => ({ body: { keys: [{ ...second.publicKey, kid: current }] } }),
  });
  const finish = Effect.match(provider.finish(signIn, callback()), {
    onSuccess: ({ userId }) => userId,
    onFailure: ({ _tag }) => _tag,
  });
  const change = (kid: string) => Effect.sync(() => void (current = kid));
  return { finish, change, readings: () => asked("/keys").length };
});

const testKeys = testWith(FetchHttpClient.layer);

testKeys("a new key of the platform is read at once, once for all who wait", function* () {
  const { finish, change, readings } = yield* changingKeys;
  expect([yield* finish, readings()]).toEqual(["1", 1]);
  yield* change("key-2");
  yield* TestClock.adjust("5 seconds");
  const atOnce = Array.from({ length: 4 }, () => finish);
  expect(yield* Effect.all(atOnce, { concurrency: "unbounded" })).toEqual(["1", "1", "1", "1"]);
  expect(readings()).toBe(2);
});

testKeys("keys are read at most once in 5 seconds", function* () {
  const { finish, change, readings } = yield* changingKeys;
  yield* finish;
  yield* change("key-2");
  yield* TestClock.adjust("4999 millis");
  expect([yield* finish, readings()]).toEqual(["ProofInvalid", 1]);
  yield* TestClock.adjust("1 millis");
  expect([yield* finish, readings()]).toEqual(["1", 2]);
  yield* change("key-3");
  expect([yield* finish, readings()]).toEqual(["ProofInvalid", 2]);
});

testKeys(
  "keys are read again after 5 minutes, so that a withdrawn key is not accepted for ever",
  function* () {
    const { finish, readings } = yield* changingKeys;
    yield* finish;
    yield* TestClock.adjust("5 minutes");
    expect([yield* finish, readings()]).toEqual(["1", 2]);
  },
);

test("no failure contains secrets", function* () {
  const secrets = ["code-1", accessToken, clientSecret, signIn.state, signIn.codeVerifier, signIn.nonce];
  const answers: ReadonlyArray<HttpAnswering> = [
    { status: 400, body: { error: "invalid_grant", error_description: secrets.join(" ") } },
    { status: 400, body: { error: secrets.join(" ") } },
    { body: { access_token: accessToken, token_type: secrets.join(" ") } },
    tokens({ id_token: secrets.join(".") }),
    { status: 500, body: secrets.join(" ") },
    "cut",
  ];
  for (const answer of answers) {
    const { provider } = yield* setUp("idToken", { token: () => answer });
    const error = yield* Effect.flip(provider.finish(signIn, callback()));
    const written = inspect(error, { depth: 10, showHidden: true });
    for (const secret of secrets) expect(written).not.toContain(secret);
  }
});
