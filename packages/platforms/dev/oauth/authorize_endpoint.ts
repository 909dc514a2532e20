/**
 * The authorization endpoint (RFC 6749, section 4.1, with PKCE): a page to choose a user, and the redirect back to
 * the client.
 */
import { Effect, Schema } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { platformRoute, refuse, type Simulation } from "../simulation.ts";
import type { Grant, OAuthServer } from "./oauth_server.ts";
import { makePages, type Pages } from "./sign_in_page.ts";

/** The page lists this many users to choose from. */
const listedUsers = 100;

/** GET shows a page to choose a user; POST to the same URL submits the choice. */
export const authorizeEndpoint = Effect.fnUntraced(function* (simulation: Simulation, server: OAuthServer) {
  const { platform, users, codes } = server;
  const pages = yield* makePages(platform);
  const path = `/${platform}/oauth/authorize` as const;

  const signIn = Effect.fnUntraced(function* ({ state, ...granted }: AuthorizeRequest, userId: string) {
    if (!users.some(({ id }) => id === userId)) return pages.problem("There is no such user.");
    const code = yield* codes.issue({ ...granted, userId });
    return sendBack(granted.redirectUri, { code, state });
  });

  const show = Effect.gen(function* () {
    const request = yield* readRequest(server, pages);
    const chosen = yield* chosenUser;
    if (chosen !== undefined) return forgetChosenUser(yield* signIn(request, chosen));
    const { redirectUri } = request;
    return pages.choice(users.slice(0, listedUsers), new URL(redirectUri).origin);
  });

  const choose = Effect.gen(function* () {
    const request = yield* readRequest(server, pages);
    const choice = yield* HttpServerRequest.schemaBodyUrlParams(Choice).pipe(
      Effect.mapError(() => pages.problem('The form has neither a "user" nor "deny=1".')),
    );
    if ("deny" in choice) {
      return sendBack(request.redirectUri, { error: "access_denied", state: request.state });
    }
    return yield* signIn(request, choice.user);
  });

  return [platformRoute(simulation, "GET", path, show), platformRoute(simulation, "POST", path, choose)];
});

const Choice = Schema.Union([
  Schema.Struct({ deny: Schema.Literal("1") }),
  Schema.Struct({ user: Schema.String }),
]);

const Sender = Schema.Struct({ client_id: Schema.String, redirect_uri: Schema.String });

/** Repeated parameters decode as a list, so they are refused. */
const Request = Schema.Struct({
  response_type: Schema.String,
  code_challenge: Schema.String.check(Schema.isPattern(/^[\w-]{43}$/)),
  code_challenge_method: Schema.Literal("S256"),
  scope: Schema.optionalKey(Schema.String),
  state: Schema.optionalKey(Schema.String),
  nonce: Schema.optionalKey(Schema.String),
});

interface AuthorizeRequest extends Omit<Grant, "userId"> {
  readonly state: string | undefined;
}

type Response = HttpServerResponse.HttpServerResponse;

/** Fails with the response to an invalid request: a page for an unknown client, a redirect otherwise. */
const readRequest = Effect.fnUntraced(function* (
  { client, scopes: known }: OAuthServer,
  { problem }: Pages,
): Effect.fn.Return<AuthorizeRequest, Response, HttpServerRequest.ParsedSearchParams> {
  const sender = yield* HttpServerRequest.schemaSearchParams(Sender).pipe(
    Effect.mapError(() => problem('The address needs one "client_id" and one "redirect_uri".')),
  );
  if (client === undefined || sender.client_id !== client.clientId) {
    return yield* Effect.fail(problem('There is no client with this "client_id".'));
  }
  const redirectUri = sender.redirect_uri;
  if (!client.redirectUris.includes(redirectUri)) {
    return yield* Effect.fail(problem('The client has not registered this "redirect_uri".'));
  }

  const { state: sent } = yield* HttpServerRequest.ParsedSearchParams;
  const state = typeof sent === "string" ? sent : undefined;
  const sendError = (error: string) => sendBack(redirectUri, { error, state });
  const request = yield* HttpServerRequest.schemaSearchParams(Request).pipe(
    Effect.mapError(() => sendError("invalid_request")),
  );
  if (request.response_type !== "code") return yield* Effect.fail(sendError("unsupported_response_type"));
  const scopes = request.scope?.split(" ") ?? [];
  if (!scopes.every((scope) => known.includes(scope))) return yield* Effect.fail(sendError("invalid_scope"));
  return { redirectUri, state, scopes, codeChallenge: request.code_challenge, nonce: request.nonce };
});

const sendBack = (
  redirectUri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): HttpServerResponse.HttpServerResponse => {
  const url = new URL(redirectUri);
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined) url.searchParams.append(key, value);
  }
  return HttpServerResponse.redirect(url, { headers: { "cache-control": "no-store" } });
};

/** Tells the next sign-in of the browser which user to take. */
const cookie = "dev_platform_user";

const options = { path: "/chat/oauth", httpOnly: true, sameSite: "lax" } as const;

/** The user of the link that the browser opened last; undefined if it opened none. */
const chosenUser = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ cookies }): string | undefined => cookies[cookie],
);

/** A link counts for one sign-in. */
const forgetChosenUser = HttpServerResponse.expireCookieUnsafe(cookie, options);

/** @param serviceUrl the public URL of the service, at whose sign-in the link leads */
export const chosenUserRoutes = (simulation: Simulation, serviceUrl: string | undefined) =>
  (["dashboard", "me"] as const).map((site) =>
    platformRoute(
      simulation,
      "GET",
      `/chat/as/:userId/${site}`,
      Effect.map(HttpRouter.params, ({ userId = "" }) =>
        serviceUrl === undefined || !simulation.platforms.chatUsers.has(userId)
          ? refuse("unknown_user")
          : HttpServerResponse.redirect(`${serviceUrl}/${site}/sign-in`).pipe(
              HttpServerResponse.setCookieUnsafe(cookie, userId, { ...options, maxAge: "1 minute" }),
            ),
      ),
    ),
  );
