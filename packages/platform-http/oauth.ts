/**
 * Proof of identity by OAuth 2.0: the authorization code flow with PKCE, and OpenID Connect where a platform has it.
 */
import {
  type GuildId,
  type IdentityProvider,
  PlatformUnavailable,
  ProofInvalid,
  type SignIn,
} from "@accountlink/core";
import { type Context, Duration, Effect, Option, Redacted, Schema, type Scope } from "effect";
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http";
import * as oauth from "oauth4webapi";
import { failureOf } from "./internal/oauth_failure.ts";
import { RequestFailed } from "./request_failed.ts";
import type { Resilience } from "./resilience.ts";
import { type ResilientClient, resilientClient } from "./resilient_client.ts";

/** A platform at which users sign in, and this service as an application registered there. */
export interface OAuthOptions<UserId> {
  /** The name of the platform's sign-in in metrics and logs. */
  readonly platform: string;
  /** What failures are called, such as `ChatIdentity.finish`. */
  readonly operation: string;
  /** Who the platform says it is in what it signs. */
  readonly issuer: string;
  /** Where the browser goes. */
  readonly authorizationUrl: string;
  /** Where codes are redeemed. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  /**
   * Where the secret is sent: in the `Authorization` header, encoded as the standard has it, which not every platform
   * decodes; or in the body.
   */
  readonly clientAuthentication: "basic" | "post";
  readonly scopes: ReadonlyArray<string>;
  readonly proof: Proof;
  readonly membership?: Membership<UserId>;
  readonly userId: Schema.ConstraintDecoder<UserId>;
  readonly resilience?: Partial<Resilience>;
}

/** How the platform says who signed in. */
export type Proof =
  /** In an ID token whose subject is the user, signed with this algorithm by one of these keys. */
  | { readonly kind: "idToken"; readonly jwksUrl: string; readonly algorithm: string }
  /** When asked here with the access token. The answer is JSON with the user's `id`. */
  | { readonly kind: "userInfo"; readonly url: string };

/** How the platform says whether who signed in is a member of the guild that asks. Without a guild it is not asked. */
export interface Membership<UserId> {
  /** What is asked of the user besides the other scopes. */
  readonly scope: string;
  /** Asks, with a client that bears the user's access token. */
  readonly isMember: (
    client: ResilientClient,
    guildId: GuildId,
    userId: UserId,
  ) => Effect.Effect<boolean, PlatformUnavailable>;
}

/**
 * Makes the provider of one platform. Redeeming a code is never tried again; asking for keys or for the user is. A
 * membership is asked for once and waited for 1.5 seconds, apart from the rest: as `<platform>_membership` in metrics and
 * logs.
 *
 * Plain HTTP is used where an address says so, for platforms played on this machine.
 *
 * @example
 * ```ts
 * import { ChatId } from "@accountlink/core";
 * import { Effect, Redacted } from "effect";
 * import { FetchHttpClient } from "effect/http";
 *
 * const request = Effect.gen(function* () {
 *   const provider = yield* identityProvider({
 *     platform: "chat_sign_in",
 *     operation: "ChatIdentity.finish",
 *     issuer: "https://chat.example",
 *     authorizationUrl: "https://chat.example/oauth/authorize",
 *     tokenUrl: "https://chat.example/oauth/token",
 *     clientId: "accountlink",
 *     clientSecret: Redacted.make("secret"),
 *     clientAuthentication: "basic",
 *     scopes: ["identify"],
 *     proof: { kind: "userInfo", url: "https://chat.example/api/users/@me" },
 *     userId: ChatId,
 *   });
 *   const redirectUri = "https://link.example/verify/chat/callback";
 *   return yield* provider.begin({
 *     redirectUri,
 *     state: "s",
 *     codeVerifier: "v".repeat(43),
 *     nonce: "n",
 *     guildId: null,
 *   });
 * });
 * const { url } = await Effect.runPromise(
 *   request.pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer)),
 * );
 * new URL(url).searchParams.get("code_challenge_method"); // "S256"
 * ```
 */
export const identityProvider = Effect.fnUntraced(function* <UserId>(
  options: OAuthOptions<UserId>,
): Effect.fn.Return<IdentityProvider<UserId>, never, HttpClient.HttpClient | Scope.Scope> {
  const { operation, platform, proof, resilience } = options;
  const client = yield* resilientClient(yield* HttpClient.HttpClient, platform, resilience);
  const askMembership = yield* makeAskMembership(options);
  const redeem = makeRedeem(options);
  const decodeUserId = Schema.decodeUnknownEffect(options.userId);

  const finish = Effect.fnUntraced(function* (signIn: SignIn, callback: URLSearchParams) {
    const context = yield* Effect.context();
    const tokens = yield* Effect.tryPromise({
      try: (signal) => redeem(signIn, callback, fetchThrough(client, context, signal)),
      catch: (error) => failureOf(operation, error),
    });
    const subject =
      proof.kind === "idToken"
        ? oauth.getValidatedIdTokenClaims(tokens)?.sub
        : yield* whoIs(bearing(client, tokens.access_token), proof.url).pipe(
            Effect.mapError((cause) => new PlatformUnavailable({ operation, cause })),
          );
    const userId = yield* decodeUserId(subject).pipe(
      Effect.mapError(() => new ProofInvalid({ reason: "user_id" })),
    );
    if (askMembership === null || signIn.guildId === null) return { userId };
    return { userId, isMember: yield* askMembership(tokens.access_token, signIn.guildId, userId) };
  });

  return { begin: (signIn) => begin(options, signIn), finish };
});

const begin = Effect.fnUntraced(function* <UserId>(options: OAuthOptions<UserId>, signIn: SignIn) {
  const { authorizationUrl, clientId, proof, membership } = options;
  const isInGuild = membership !== undefined && signIn.guildId !== null;
  const scopes = isInGuild ? [...options.scopes, membership.scope] : options.scopes;
  const challenge = yield* Effect.promise(() => oauth.calculatePKCECodeChallenge(signIn.codeVerifier));
  const url = new URL(authorizationUrl);
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: signIn.redirectUri,
    scope: scopes.join(" "),
    state: signIn.state,
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...(proof.kind === "idToken" ? { nonce: signIn.nonce } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href };
});

type Fetch = (
  url: string,
  options: oauth.CustomFetchOptions<"GET" | "POST", URLSearchParams | undefined>,
) => Promise<Response>;

/** Gives what takes a callback to tokens: its state checked, its code redeemed, an ID token and its signature held. */
const makeRedeem = <UserId>(options: OAuthOptions<UserId>) => {
  const { issuer, tokenUrl, clientId, clientSecret, clientAuthentication, proof } = options;
  const oidc = proof.kind === "idToken" ? proof : undefined;
  // One object for good: the library keeps the platform's keys by it.
  const server: oauth.AuthorizationServer = {
    issuer,
    token_endpoint: tokenUrl,
    ...(oidc ? { jwks_uri: oidc.jwksUrl } : {}),
  };
  const application: oauth.Client = {
    client_id: clientId,
    ...(oidc ? { id_token_signed_response_alg: oidc.algorithm } : {}),
  };
  const authenticate = clientAuthentication === "basic" ? oauth.ClientSecretBasic : oauth.ClientSecretPost;

  return async (signIn: SignIn, callback: URLSearchParams, fetch: Fetch) => {
    // oxlint-disable-next-line typescript/no-deprecated -- Marked so to stand out. The addresses are the operator's.
    const transport = { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true };
    const code = oauth.validateAuthResponse(server, application, callback, signIn.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      application,
      authenticate(Redacted.value(clientSecret)),
      code,
      signIn.redirectUri,
      signIn.codeVerifier,
      transport,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      application,
      response,
      oidc ? { expectedNonce: signIn.nonce, requireIdToken: true } : {},
    );
    if (oidc) await oauth.validateApplicationLevelSignature(server, response, transport);
    return tokens;
  };
};

/** The client, as the library sends with it. */
const fetchThrough =
  (client: ResilientClient, context: Context.Context<never>, signal: AbortSignal): Fetch =>
  (url, { method, headers, body }) => {
    const request = HttpClientRequest.make(method)(url, { headers });
    const sent = client.execute(
      body === undefined ? request : HttpClientRequest.bodyUrlParams(request, body),
    );
    // A resilient client makes its answers of web ones.
    const answer = Effect.map(sent, (response) => Option.getOrThrow(HttpClientResponse.toWeb(response)));
    return Effect.runPromiseWith(context)(answer, { signal });
  };

const bearing = (client: ResilientClient, accessToken: string): ResilientClient =>
  HttpClient.mapRequest(client, HttpClientRequest.bearerToken(accessToken));

/** Who it was is known, and others can be asked for the rest: no sign-in waits long for this, or fails with it. */
const briefly = { retries: 0, deadline: Duration.millis(1_500) };

/** Gives what asks for the membership of who signed in, and is undefined without an answer; null where there is none. */
const makeAskMembership = Effect.fnUntraced(function* <UserId>({
  platform,
  membership,
  resilience,
}: OAuthOptions<UserId>) {
  if (membership === undefined) return null;
  // With a circuit of its own, or one endpoint that hangs would shut the sign-in for everybody.
  const client = yield* resilientClient(yield* HttpClient.HttpClient, `${platform}_membership`, {
    ...resilience,
    ...briefly,
  });
  return (accessToken: string, guildId: GuildId, userId: UserId) =>
    membership.isMember(bearing(client, accessToken), guildId, userId).pipe(
      Effect.tapError((cause) => Effect.logDebug("Cannot ask for the membership of who signed in", cause)),
      Effect.orElseSucceed(() => undefined),
    );
});

const User = Schema.Struct({ id: Schema.String });

const whoIs = Effect.fnUntraced(function* (client: ResilientClient, url: string) {
  const response = yield* client.get(url);
  const { status } = response;
  if (status !== 200) return yield* new RequestFailed({ reason: "status", status });
  const { id } = yield* HttpClientResponse.schemaBodyJson(User)(response).pipe(
    Effect.mapError(() => new RequestFailed({ reason: "unreadable", status })),
  );
  return id;
});
