/** The sign-in at an issuer that is discovered. */
import { GameIdentity } from "@accountlink/core";
import { type HttpAnswer, makeIdTokenSigner, startHttpServer } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Redacted } from "effect";
import { FetchHttpClient } from "effect/http";
import { callback, signIn } from "../../http/oauth/test_sign_in.ts";
import { httpGameIdentity } from "./game_identity.ts";

const setUp = Effect.fnUntraced(function* (claims: object, claim?: string) {
  const signer = yield* Effect.promise(() => makeIdTokenSigner());
  const server = yield* startHttpServer(async ({ path }): Promise<HttpAnswer> => {
    if (path === "/realm/.well-known/openid-configuration") {
      return {
        body: {
          issuer: `${server.url}/realm`,
          authorization_endpoint: `${server.url}/realm/auth`,
          token_endpoint: `${server.url}/realm/token`,
          jwks_uri: `${server.url}/realm/keys`,
          id_token_signing_alg_values_supported: ["HS256", "ES256"],
        },
      };
    }
    if (path === "/realm/keys") return { body: { keys: [signer.publicKey] } };
    const token = await signer.sign({
      claims: { iss: `${server.url}/realm`, aud: "4242", nonce: signIn.nonce, ...claims },
    });
    return { body: { token_type: "Bearer", access_token: "a", expires_in: 60, id_token: token } };
  });
  const layer = httpGameIdentity({
    issuer: `${server.url}/realm`,
    clientId: "4242",
    clientSecret: Redacted.make("s3cret"),
    claim,
    resilience: { retries: 0 },
  });
  const services = yield* Layer.build(Layer.provide(layer, FetchHttpClient.layer));
  return { ...server, identity: Context.get(services, GameIdentity) };
});

test("the issuer's addresses are discovered, and the subject is the player", function* () {
  const { identity, url, heard } = yield* setUp({ sub: "76561197960287930" });
  const page = new URL((yield* identity.begin(signIn)).url);
  expect(page.origin + page.pathname).toBe(`${url}/realm/auth`);
  expect(Object.fromEntries(page.searchParams)).toMatchObject({
    client_id: "4242",
    scope: "openid",
    code_challenge_method: "S256",
    nonce: signIn.nonce,
  });
  expect(yield* identity.finish(signIn, callback)).toMatchObject({ userId: "76561197960287930" });
  // Without a list of the ways, the application proves itself in the header.
  const asked = heard.find(({ path }) => path === "/realm/token");
  expect(asked?.headers.authorization).toBe(`Basic ${btoa("4242:s3cret")}`);
});

test("the player is the claim that is named, also as a number", function* () {
  const { identity } = yield* setUp({ sub: "user-of-the-realm", player_id: 55 }, "player_id");
  expect(yield* identity.finish(signIn, callback)).toMatchObject({ userId: "55" });
});

test("a claim that is no game ID proves nothing", function* () {
  const { identity } = yield* setUp({ sub: "user-of-the-realm" });
  expect(yield* Effect.flip(identity.finish(signIn, callback))).toMatchObject({
    _tag: "ProofInvalid",
    reason: "user_id",
  });
});

test("an issuer that cannot be discovered sends the browser back, where the sign-in fails", function* () {
  const server = yield* startHttpServer(() => ({ status: 503 }));
  const layer = httpGameIdentity({
    issuer: server.url,
    clientId: "4242",
    clientSecret: Redacted.make("s3cret"),
    resilience: { retries: 0 },
  });
  const services = yield* Layer.build(Layer.provide(layer, FetchHttpClient.layer));
  const identity = Context.get(services, GameIdentity);
  expect(yield* identity.begin(signIn)).toEqual({ url: `${signIn.redirectUri}?state=${signIn.state}` });
  const back = new URLSearchParams({ state: signIn.state });
  expect(yield* Effect.flip(identity.finish(signIn, back))).toMatchObject({ _tag: "PlatformUnavailable" });
});
