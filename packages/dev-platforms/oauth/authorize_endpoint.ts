/**
 * The authorization endpoint (RFC 6749, section 4.1, with PKCE): a page to choose a user, and the redirect back to
 * the client.
 */
import { Effect, Schema } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { platformRoute, refuse, type Simulation } from "../simulation.ts";
import type { OAuthServer } from "./oauth_server.ts";
import { makePages, type Pages } from "./sign_in_page.ts";

/** The page lists this many users to choose from. */
const listedUsers = 100;

/** GET shows a page to choose a user; POST to the same URL submits the choice. */
export const authorizeEndpoint = Effect.fnUntraced(function* (simulation: Simulation, server: OAuthServer) {
  const { platform, users, codes } = server;
  const pages = yield* makePages(platform);
  const path = `/${platform}/oauth/authorize` as const;

  /** @param refused a scope that the user does not grant */
  const signIn = Effect.fnUntraced(function* (
    request: typeof Request.Type,
    userId: string,
    refused: string | null = null,
  ) {
    if (!users.some(({ id }) => id === userId)) return pages.problem("There is no such user.");
    const { redirect_uri: redirectUri, code_challenge: codeChallenge, state } = request;
    const scopes = scopesOf(request).filter((scope) => scope !== refused);
    const code = yield* codes.issue({ userId, redirectUri, codeChallenge, scopes });
    return sendBack(redirectUri, { code, state });
  });

  const show = Effect.gen(function* () {
    const request = yield* readRequest(server, pages);
    const chosen = yield* chosenUser;
    if (chosen !== undefined) return forgetChosenUser(yield* signIn(request, chosen));
    return pages.choice(users.slice(0, listedUsers), new URL(request.redirect_uri).origin, scopesOf(request));
  });

  const choose = Effect.gen(function* () {
    const request = yield* readRequest(server, pages);
    const choice = yield* HttpServerRequest.schemaBodyUrlParams(Choice).pipe(
      Effect.mapError(() => pages.problem('The form has neither a "user" nor "deny=1".')),
    );
    if ("deny" in choice) {
      return sendBack(request.redirect_uri, { error: "access_denied", state: request.state });
    }
    return yield* signIn(request, choice.user, choice.refuse);
  });

  return [platformRoute(simulation, "GET", path, show), platformRoute(simulation, "POST", path, choose)];
});

const Choice = Schema.Union([
  Schema.Struct({ deny: Schema.Literal("1") }),
  Schema.Struct({ user: Schema.String, refuse: Schema.optionalKey(Schema.String) }),
]);

/** Repeated parameters decode as a list, so they are refused. */
const Request = Schema.Struct({
  client_id: Schema.String,
  redirect_uri: Schema.String,
  code_challenge: Schema.String.check(Schema.isPattern(/^[\w-]{43}$/)),
  code_challenge_method: Schema.Literal("S256"),
  state: Schema.optionalKey(Schema.String),
  scope: Schema.optionalKey(Schema.String),
});

const scopesOf = ({ scope = "" }: typeof Request.Type): ReadonlyArray<string> =>
  scope.split(" ").filter((each) => each !== "");

const readRequest = Effect.fnUntraced(function* ({ client }: OAuthServer, { problem }: Pages) {
  const request = yield* HttpServerRequest.schemaSearchParams(Request).pipe(
    Effect.mapError(() => problem('The address needs a "client_id", a "redirect_uri" and a PKCE challenge.')),
  );
  if (request.client_id !== client?.clientId) {
    return yield* Effect.fail(problem('There is no client with this "client_id".'));
  }
  if (!client.redirectUris.includes(request.redirect_uri)) {
    return yield* Effect.fail(problem('The client has not registered this "redirect_uri".'));
  }
  return request;
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
