/** The token endpoint (RFC 6749, section 4.1.3, with PKCE), which accepts each code once. */
import { Effect, Redacted, Schema } from "effect";
import { Digest } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import { HttpServerRequest, HttpServerResponse } from "effect/http";
import { platformRoute, type Simulation } from "../simulation.ts";
import type { OAuthServer } from "./oauth_server.ts";

export const tokenEndpoint = Effect.fnUntraced(function* (
  simulation: Simulation,
  { platform, client, codes, accessTokens }: OAuthServer,
) {
  const digest = yield* Digest.Digest;

  const challengeOf = (verifier: string) =>
    Effect.map(digest.digest(Digest.sha256, new TextEncoder().encode(verifier)), Base64Url.encode);

  const redeem = Effect.gen(function* () {
    const sent = yield* HttpServerRequest.schemaBodyUrlParams(Redemption).pipe(
      Effect.mapError(() => refuse("invalid_request")),
    );
    if (sent.client_id !== client?.clientId || sent.client_secret !== Redacted.value(client.clientSecret)) {
      return refuse("invalid_client", 401);
    }
    const grant = codes.take(sent.code);
    const matches =
      sent.redirect_uri === grant?.redirectUri &&
      (yield* challengeOf(sent.code_verifier)) === grant.codeChallenge;
    if (!matches) return refuse("invalid_grant");
    return respond(200, {
      access_token: yield* accessTokens.issue(grant),
      token_type: "Bearer",
      scope: grant.scopes.join(" "),
    });
  });

  return platformRoute(simulation, "POST", `/${platform}/oauth/token`, redeem);
});

const Redemption = Schema.Struct({
  client_id: Schema.String,
  client_secret: Schema.String,
  code: Schema.String,
  redirect_uri: Schema.String,
  code_verifier: Schema.String,
});

const respond = (status: number, body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { "cache-control": "no-store" } });

const refuse = (error: string, status = 400) => respond(status, { error });
