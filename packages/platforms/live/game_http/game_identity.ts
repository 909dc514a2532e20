import { GameId, GameIdentity, PlatformUnavailable } from "@accountlink/core";
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import type { IdentityProvider } from "@accountlink/core/platforms";
import { Effect, Layer, type Redacted, Schema, type Scope, Semaphore } from "effect";
import { HttpClient } from "effect/http";
import {
  identityProvider,
  RequestFailed,
  type Resilience,
  readDocument,
  resilientClient,
  unlessOdd,
} from "../../http/mod.ts";

/** An application at an OpenID Connect issuer where the players of a game sign in. */
export interface HttpGameIdentityOptions {
  /** The issuer. Below it, `/.well-known/openid-configuration` names its addresses. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  /** The claim of the ID token with the game ID; `sub` if left out. */
  readonly claim?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/** How long addresses are used, in milliseconds. */
const usedFor = 3_600_000;

const operation = "GameIdentity.finish";

const Metadata = Schema.Struct({
  issuer: Schema.String,
  authorization_endpoint: Schema.String,
  token_endpoint: Schema.String,
  jwks_uri: Schema.String,
  token_endpoint_auth_methods_supported: unlessOdd(Schema.Array(Schema.String)),
  id_token_signing_alg_values_supported: unlessOdd(Schema.Array(Schema.String)),
});

/** The algorithms whose signatures this service can check with the issuer's public keys. */
const isAsymmetric = (algorithm: string): boolean => /^(?:[RPE]S\d{3}|EdDSA|Ed25519)$/u.test(algorithm);

const bare = (url: string): string => url.replace(/\/+$/u, "");

/**
 * Signs game users in at an OpenID Connect issuer, which is discovered. The only scope is `openid`. The application
 * provides the HTTP client.
 */
export const httpGameIdentity = (
  options: HttpGameIdentityOptions,
): Layer.Layer<GameIdentity, never, HttpClient.HttpClient> =>
  Layer.effect(
    GameIdentity,
    Effect.gen(function* () {
      const { issuer, clientId, clientSecret, claim, resilience = {} } = options;
      const client = yield* resilientClient(
        yield* HttpClient.HttpClient,
        "game_sign_in_discovery",
        resilience,
      );
      const context = yield* Effect.context<HttpClient.HttpClient | Scope.Scope>();
      const reading = Semaphore.makeUnsafe(1);
      let used:
        | { readonly text: string; readonly provider: IdentityProvider<GameId>; at: number }
        | undefined;

      const discover = readDocument(client, {
        operation,
        url: `${bare(issuer)}/.well-known/openid-configuration`,
        found: Metadata,
        // Another issuer could sign in anybody as anybody.
        matches: (found) => bare(found.issuer) === bare(issuer),
      });

      const makeProvider = (found: typeof Metadata.Type) =>
        identityProvider({
          platform: "game_sign_in",
          operation,
          issuer: found.issuer,
          authorizationUrl: found.authorization_endpoint,
          tokenUrl: found.token_endpoint,
          clientId,
          clientSecret,
          // Without a list, OpenID Connect means the header.
          clientAuthentication: found.token_endpoint_auth_methods_supported?.includes("client_secret_post")
            ? "post"
            : "basic",
          scopes: ["openid"],
          proof: {
            kind: "idToken",
            jwksUrl: found.jwks_uri,
            // OpenID Connect wants each issuer to have this one.
            algorithms: (found.id_token_signing_alg_values_supported ?? ["RS256"]).filter(isAsymmetric),
            ...(claim !== undefined && { claim }),
          },
          userId: GameId,
          resilience,
        });

      /** The addresses of an hour ago serve on while the issuer does not tell newer ones. */
      const provider = Effect.gen(function* () {
        const at = yield* monotonicMillis;
        if (used !== undefined && at < used.at + usedFor) return used.provider;
        const found = yield* Effect.result(discover);
        if (found._tag === "Failure") return used === undefined ? yield* found.failure : used.provider;
        const text = JSON.stringify(found.success);
        if (used?.text === text) {
          used.at = at;
          return used.provider;
        }
        used = { text, at, provider: yield* Effect.provide(makeProvider(found.success), context) };
        return used.provider;
      }).pipe(reading.withPermits(1));

      yield* Effect.tapError(provider, ({ cause }) =>
        Effect.logWarning(
          `Cannot discover the issuer of the game, so nobody can sign in there yet: ${cause instanceof RequestFailed ? cause.message : "it did not answer"}`,
        ),
      ).pipe(Effect.ignore, Effect.forkScoped);

      return {
        // Without addresses, the browser comes back at once, and the callback finds that the platform is unavailable.
        begin: (signIn) =>
          provider.pipe(
            Effect.flatMap((found) => found.begin(signIn)),
            Effect.orElseSucceed(() => ({
              url: `${signIn.redirectUri}?${new URLSearchParams({ state: signIn.state })}`,
            })),
          ),
        finish: (signIn, callback) =>
          Effect.flatMap(provider, (found) =>
            callback.has("code") || callback.has("error")
              ? found.finish(signIn, callback)
              : Effect.fail(new PlatformUnavailable({ operation })),
          ),
      };
    }),
  );
