/** Sign-in by the OAuth 2.0 authorization code flow with PKCE, and by OpenID Connect. */
import type { GameId, GuildId, PlatformUnavailable } from "@accountlink/core";
import {
  type IdentityProvider,
  ProofInvalid,
  type SignIn,
  type UserGuild,
} from "@accountlink/core/platforms";
import { type Context, Duration, Effect, Option, Redacted, Schema, type Scope } from "effect";
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http";
import * as oauth from "oauth4webapi";
import { readDocument } from "../find_resource.ts";
import type { Resilience } from "../resilience/resilience.ts";
import { type ResilientClient, resilientClient } from "../resilience/resilient_client.ts";
import { failureOf } from "./oauth_failure.ts";
import { makeSignatureCheck } from "./signing_keys.ts";
import { makeTellUnusable, processingFailure, withoutUnneeded } from "./token_answer.ts";

/** A platform's OAuth server, and this service's registration as its client. */
export interface OAuthOptions<UserId> {
  /** The name of the platform's sign-in in metrics and logs. */
  readonly platform: string;
  /** The operation named in errors, such as `ChatIdentity.finish`. */
  readonly operation: string;
  readonly issuer: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  /**
   * Where the secret is sent. `basic`: in the `Authorization` header, form-encoded as RFC 6749 requires, which not
   * every platform decodes. `post`: in the body.
   */
  readonly clientAuthentication: "basic" | "post";
  readonly scopes: ReadonlyArray<string>;
  readonly proof: Proof;
  readonly membership?: Membership<UserId>;
  readonly guilds?: UserList<UserGuild>;
  /** The verified game accounts. */
  readonly connections?: UserList<GameId>;
  readonly userId: Schema.ConstraintDecoder<UserId>;
  readonly resilience?: Partial<Resilience>;
}

/** How the platform identifies the user who signed in. */
export type Proof =
  /**
   * Identifies the user by a claim of an ID token, the subject if left out. The token is signed with one of these
   * algorithms, by a key from this URL.
   */
  | {
      readonly kind: "idToken";
      readonly jwksUrl: string;
      readonly algorithms: ReadonlyArray<string>;
      readonly claim?: string;
    }
  /** Identifies the user by a request with the access token; the JSON response has the user's `id`. */
  | { readonly kind: "userInfo"; readonly url: string };

/** How to find out whether the user is a member of the guild that requested the sign-in. Other sign-ins skip this. */
export interface Membership<UserId> {
  readonly scope: string;
  /** Returns whether the user is a member of the guild. The client sends the user's access token. */
  readonly isMember: (
    client: ResilientClient,
    guildId: GuildId,
    userId: UserId,
  ) => Effect.Effect<boolean, PlatformUnavailable>;
}

/** How to list what a user has, for sign-ins that ask for it. */
export interface UserList<A> {
  readonly scope: string;
  /** Lists it with a client that sends the user's access token. */
  readonly list: (client: ResilientClient) => Effect.Effect<ReadonlyArray<A>, PlatformUnavailable>;
}

/**
 * Makes the identity provider of one platform. Requests for keys and for the user are retried; redeeming a code is
 * not. Lookups of the membership, the guilds and the connections have one attempt of 1.5 seconds each, and are named
 * `<platform>_membership`, `<platform>_guilds` and `<platform>_connections` in metrics and logs.
 *
 * URLs may use plain HTTP, for the dev platform.
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
  const { operation, platform, proof, resilience, membership, guilds, connections } = options;
  const client = yield* resilientClient(yield* HttpClient.HttpClient, platform, resilience);
  const findMembership = membership && (yield* detailLookup(options, "membership"));
  const listGuilds = guilds && (yield* detailLookup(options, "guilds"));
  const listConnections = connections && (yield* detailLookup(options, "connections"));
  const redeem = makeRedeem(options);
  const checkSignature =
    proof.kind === "idToken"
      ? makeSignatureCheck(client, operation, {
          server: { issuer: options.issuer, jwks_uri: proof.jwksUrl },
          application: { client_id: options.clientId },
          algorithms: proof.algorithms,
        })
      : () => Effect.void;
  const fetchUserId = (accessToken: string, url: string) =>
    Effect.map(readDocument(withToken(client, accessToken), { operation, url, found: User }), ({ id }) =>
      textOf(id),
    );
  const tellUnusable = makeTellUnusable(platform);
  const decodeUserId = Schema.decodeUnknownEffect(options.userId);

  const finish = Effect.fnUntraced(function* (signIn: SignIn, callback: URLSearchParams) {
    const context = yield* Effect.context();
    const { tokens, response, original } = yield* Effect.tryPromise({
      try: (signal) => redeem(signIn, callback, fetchThrough(client, context, signal)),
      catch: (error) => failureOf(operation, error),
    });
    yield* checkSignature(response, original);
    const { access_token: token } = tokens;
    const { guildId, withGuilds, withConnections } = signIn;
    const user = Effect.gen(function* () {
      const subject =
        proof.kind === "idToken" ? claimOf(tokens, proof.claim) : yield* fetchUserId(token, proof.url);
      const userId = yield* decodeUserId(subject).pipe(
        Effect.mapError(() => new ProofInvalid({ reason: "user_id" })),
      );
      const isMember =
        membership && findMembership && guildId !== null
          ? yield* findMembership(token, (asking) => membership.isMember(asking, guildId, userId))
          : undefined;
      return { userId, isMember };
    });
    const lists = {
      guilds: guilds && listGuilds && withGuilds ? listGuilds(token, guilds.list) : none,
      connections:
        connections && listConnections && withConnections && hasScope(tokens, connections.scope)
          ? listConnections(token, connections.list)
          : none,
    };
    // The lists need the token alone, so the user waits for one request less.
    const found = yield* Effect.all({ user, ...lists }, { concurrency: "unbounded" });
    return { ...found.user, guilds: found.guilds, connections: found.connections };
  }, Effect.tapError(tellUnusable));

  return { begin: (signIn) => begin(options, signIn), finish };
});

const claimOf = (tokens: oauth.TokenEndpointResponse, claim = "sub"): unknown =>
  textOf(oauth.getValidatedIdTokenClaims(tokens)?.[claim]);

/** An ID may be a number, if that is exact. */
const textOf = (id: unknown): unknown =>
  typeof id === "number" && Number.isSafeInteger(id) ? String(id) : id;

const none = Effect.succeed(undefined);

/** Whether the user granted the scope. A server that grants all requested scopes may leave them out of its response. */
const hasScope = ({ scope: granted }: oauth.TokenEndpointResponse, scope: string): boolean =>
  granted === undefined || granted.split(" ").includes(scope);

const begin = Effect.fnUntraced(function* <UserId>(options: OAuthOptions<UserId>, signIn: SignIn) {
  const { authorizationUrl, clientId, proof, membership, guilds, connections } = options;
  const scopes = [
    ...options.scopes,
    ...(membership !== undefined && signIn.guildId !== null ? [membership.scope] : []),
    ...(guilds !== undefined && signIn.withGuilds ? [guilds.scope] : []),
    ...(connections !== undefined && signIn.withConnections ? [connections.scope] : []),
  ];
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

/** Exchanges the code in a callback for tokens. Checks the `state` and the claims of the ID token. */
const makeRedeem = <UserId>(options: OAuthOptions<UserId>) => {
  const { issuer, tokenUrl, clientId, clientSecret, clientAuthentication, proof } = options;
  const oidc = proof.kind === "idToken" ? proof : undefined;
  const server: oauth.AuthorizationServer = {
    issuer,
    token_endpoint: tokenUrl,
    ...(oidc ? { id_token_signing_alg_values_supported: [...oidc.algorithms] } : {}),
  };
  const application: oauth.Client = { client_id: clientId };
  const authenticate = clientAuthentication === "basic" ? oauth.ClientSecretBasic : oauth.ClientSecretPost;

  return async (signIn: SignIn, callback: URLSearchParams, fetch: Fetch) => {
    const code = oauth.validateAuthResponse(server, application, callback, signIn.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      application,
      authenticate(Redacted.value(clientSecret)),
      code,
      signIn.redirectUri,
      signIn.codeVerifier,
      // oxlint-disable-next-line typescript/no-deprecated -- Deprecated only as a warning that it allows plain HTTP.
      { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true },
    );
    const needed = await withoutUnneeded(response, oidc !== undefined);
    const expected = oidc ? { expectedNonce: signIn.nonce, requireIdToken: true } : {};
    const tokens = await oauth
      .processAuthorizationCodeResponse(server, application, needed.response, expected)
      .catch((error: unknown) => {
        throw processingFailure(error);
      });
    return { tokens, ...needed };
  };
};

/** Makes a `fetch` function for the OAuth library that sends requests through the client. */
const fetchThrough =
  (client: ResilientClient, context: Context.Context<never>, signal: AbortSignal): Fetch =>
  (url, { method, headers, body }) => {
    const request = HttpClientRequest.make(method)(url, { headers });
    const sent = client.execute(
      body === undefined ? request : HttpClientRequest.bodyUrlParams(request, body),
    );
    // A resilient client builds its responses from web responses, so `getOrThrow` never throws.
    const answer = Effect.map(sent, (response) => Option.getOrThrow(HttpClientResponse.toWeb(response)));
    return Effect.runPromiseWith(context)(answer, { signal });
  };

const withToken = (client: ResilientClient, accessToken: string): ResilientClient =>
  HttpClient.mapRequest(client, HttpClientRequest.bearerToken(accessToken));

/** Lookups of details must not delay a sign-in for long, because the user is already identified by then. */
const detailResilience = { retries: 0, deadline: Duration.millis(1_500) };

/**
 * Makes the lookup of a detail of the user, such as the membership; undefined if it fails. Its client has its own
 * circuit, so that sign-ins still work while the endpoint hangs.
 */
const detailLookup = Effect.fnUntraced(function* (
  { platform, resilience }: Pick<OAuthOptions<never>, "platform" | "resilience">,
  detail: "membership" | "guilds" | "connections",
) {
  const name = `${platform}_${detail}`;
  const settings = { ...resilience, ...detailResilience };
  const client = yield* resilientClient(yield* HttpClient.HttpClient, name, settings);
  return <A>(token: string, ask: (client: ResilientClient) => Effect.Effect<A, PlatformUnavailable>) =>
    ask(withToken(client, token)).pipe(
      Effect.tapError((cause) => Effect.logDebug(`Cannot look up the ${detail} of the user`, cause)),
      Effect.orElseSucceed(() => undefined),
    );
});

const User = Schema.Struct({ id: Schema.Union([Schema.String, Schema.Int]) });
