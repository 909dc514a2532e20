/** The token endpoint (RFC 6749, section 4.1.3, with PKCE), which accepts each code once. */
import { Clock, Effect, Option, Redacted, Result, Schema } from "effect";
import { Digest, KeyFormat, SecureRandom, Signature } from "effect/crypto";
import { Base64, Base64Url } from "effect/encoding";
import { type Headers, HttpServerRequest, HttpServerResponse } from "effect/http";
import type { RegisteredClient } from "../identities.ts";
import { credentialsAfter, platformRoute, type Simulation } from "../simulation.ts";
import type { Grant, OAuthServer } from "./oauth_server.ts";

/** @param idTokenFor makes the ID token of a grant; left out if the platform does not use OpenID Connect */
export const tokenEndpoint = Effect.fnUntraced(function* (
  simulation: Simulation,
  server: OAuthServer,
  idTokenFor?: (grant: Grant, client: RegisteredClient) => Effect.Effect<string>,
) {
  const { platform, codes, accessTokens } = server;
  const digest = yield* Digest.Digest;

  const challengeOf = (verifier: string) =>
    Effect.map(digest.digest(Digest.sha256, new TextEncoder().encode(verifier)), Base64Url.encode);

  const redeem = Effect.gen(function* () {
    const client = yield* authenticate(server);
    const { grant_type } = yield* read(GrantType);
    if (grant_type !== "authorization_code") return refuse("unsupported_grant_type");
    const { code, redirect_uri, code_verifier } = yield* read(Redemption);

    const redeemed = yield* codes.take(code);
    if (Option.isNone(redeemed)) return refuse("invalid_grant");
    const grant = redeemed.value;
    const matches =
      redirect_uri === grant.redirectUri && (yield* challengeOf(code_verifier)) === grant.codeChallenge;
    if (!matches) return refuse("invalid_grant");

    return respond(200, {
      access_token: yield* accessTokens.issue(grant),
      token_type: "Bearer",
      expires_in: accessTokens.lifetime / 1_000,
      scope: grant.scopes.join(" "),
      ...(idTokenFor !== undefined && grant.scopes.includes("openid")
        ? { id_token: yield* idTokenFor(grant, client) }
        : {}),
    });
  });

  const path = `/${platform}/oauth/token` as const;
  return platformRoute(simulation, "POST", path, redeem);
});

const GrantType = Schema.Struct({ grant_type: Schema.String });

const Redemption = Schema.Struct({
  code: Schema.String,
  redirect_uri: Schema.String,
  code_verifier: Schema.String.check(Schema.isPattern(/^[\w.~-]{43,128}$/)),
});

const read = <A, I extends Readonly<Record<string, string>>>(schema: Schema.Codec<A, I>) =>
  Effect.mapError(HttpServerRequest.schemaBodyUrlParams(schema), () => refuse("invalid_request"));

const authenticate = Effect.fnUntraced(function* ({ client }: OAuthServer) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest;
  const [, id = "", secret = ""] = /^([^:]*):(.*)$/.exec(basicCredentials(headers)) ?? [];
  const isClient =
    client !== undefined &&
    formDecoded(id) === client.clientId &&
    formDecoded(secret) === Redacted.value(client.clientSecret);
  if (isClient) return client;
  const refused = HttpServerResponse.setHeader(refuse("invalid_client", 401), "www-authenticate", "Basic");
  return yield* Effect.fail(refused);
});

/** The client's credentials in HTTP Basic, each form-encoded (RFC 6749, section 2.3.1). */
const basicCredentials = (headers: Headers.Headers): string =>
  Result.getOrElse(Base64.decodeString(credentialsAfter("Basic", headers)), () => "");

const formDecoded = (text: string): string => new URLSearchParams(`text=${text}`).get("text") ?? "";

const respond = (status: number, body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { "cache-control": "no-store" } });

const refuse = (error: string, status = 400) => respond(status, { error });

/** The lifetime of an ID token, in seconds. */
const lifetime = 300;

interface Claims {
  readonly sub: string;
  readonly aud: string;
  readonly nonce: string | undefined;
}

/** Signs ID tokens with a key that is generated at startup. */
export const makeIdTokens = Effect.fnUntraced(function* (issuer: string) {
  const signature = yield* Signature.Signature;
  const random = yield* SecureRandom.SecureRandom;
  const { privateKey, publicKey } = yield* Effect.orDie(signature.generateKeyPair(Signature.ecdsaP256));
  const jwk = yield* Effect.orDie(KeyFormat.encode(KeyFormat.jwk, publicKey));
  const key = { alg: "ES256", kid: Base64Url.encode(yield* random.randomBytes(8)) };
  const header = encoded({ ...key, typ: "JWT" });

  const sign = Effect.fnUntraced(function* (claims: Claims) {
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1_000);
    const payload = encoded({ ...claims, iss: issuer, iat: now, exp: now + lifetime });
    const signed = `${header}.${payload}`;
    const bytes = yield* Effect.orDie(signature.sign(privateKey, new TextEncoder().encode(signed)));
    return `${signed}.${Base64Url.encode(bytes)}`;
  });

  return { keySet: { keys: [{ ...jwk, ...key, use: "sig" }] }, sign };
});

const encoded = (value: object): string => Base64Url.encode(JSON.stringify(value));
