/** Links that sign a browser in as one user, without the page to choose a user. */
import { Effect } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { platformRoute, type Simulation } from "../simulation/platform_route.ts";
import { refuse } from "../simulation/responses.ts";

/** Tells the next sign-in of the browser which user to take. */
const cookie = "dev_platform_user";

const options = { path: "/chat/oauth", httpOnly: true, sameSite: "lax" } as const;

/** The user of the link that the browser opened last; undefined if it opened none. */
export const chosenUser = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ cookies }): string | undefined => cookies[cookie],
);

/** A link counts for one sign-in. */
export const forgetChosenUser = HttpServerResponse.expireCookieUnsafe(cookie, options);

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
