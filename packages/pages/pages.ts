import {
  type BoundRoute,
  emptyResponse,
  HttpSettings,
  isUnder,
  type KeylessAnswers,
  type Pages,
  privateHeaders,
  type Router,
} from "@accountlink/http/for_pages";
import { Effect, type Scope } from "effect";
import { chatRoutes } from "./chat/chat_routes.ts";
import { dashboardRoutes } from "./dashboard/dashboard_routes.ts";
import { flowRoutes } from "./flow/routes.ts";
import { Languages } from "./languages/reader_language.ts";
import { meRoutes } from "./me/me_routes.ts";
import { stylePath } from "./page.ts";
import { PageSettings } from "./page_settings.ts";

/**
 * Makes the pages of an application from the services of core, `HttpSettings` and `PageSettings`.
 *
 * @param makeLookups makes the lookup routes that owners can try on the dashboard
 * @example
 * ```ts
 * import { makeWebHandler } from "@accountlink/http";
 * import { MemoryWorld } from "@accountlink/testing";
 * import { Layer } from "effect";
 *
 * const names = { ...PageSettings.defaultValue(), chatName: "Discord" };
 * const options = { publicUrl: "https://links.example", clientAddress: "none", pages: makePages } as const;
 * const { fetch, close } = makeWebHandler(Layer.merge(MemoryWorld.layer(), Layer.succeed(PageSettings, names)), options);
 * (await fetch(new Request("https://links.example/go"))).status; // 200
 * await close();
 * ```
 */
export const makePages = Effect.fnUntraced(function* (makeLookups: () => Router) {
  const [flow, me, dashboard, chat] = yield* Effect.all([
    flowRoutes,
    meRoutes,
    dashboardRoutes(makeLookups),
    chatRoutes,
  ]).pipe(Effect.provide(Languages.layer));
  const sites = [
    { isAt: isFlow, answers: flow },
    {
      isAt: (url: string) => isUnder("/dashboard", url) && !isUnder("/dashboard/api", url),
      answers: dashboard,
    },
    { isAt: (url: string) => isUnder("/me", url), answers: me },
  ];
  const { publicUrl } = yield* HttpSettings;
  const routes = [...flow.routes, ...dashboard.routes, ...me.routes, ...chat].map((route) =>
    route.method === "GET" && needsSignIn(route.path) ? atPublicUrl(route, publicUrl, flow) : route,
  );
  const { withoutSignIns = false } = yield* PageSettings;
  return {
    routes: withoutSignIns
      ? routes.map((route) => (needsSignIn(route.path) ? { ...route, answer: flow.closed } : route))
      : routes,
    answersAt: (url) => sites.find(({ isAt }) => isAt(url))?.answers ?? null,
    elsewhere: flow,
  } satisfies Pages;
});

/** The services of core that `makePages` requires. @internal */
export type PageServices = Exclude<Effect.Services<ReturnType<typeof makePages>>, HttpSettings | Scope.Scope>;

/**
 * Leads from another name of this machine, such as `localhost` in place of `127.0.0.1`, to the public URL. Sign-ins come
 * back there, and their cookies belong to one host. Other hosts are served as they are, since a proxy may have set them.
 */
const atPublicUrl = (route: BoundRoute, publicUrl: string, { keylessAnswer }: KeylessAnswers): BoundRoute => {
  const { host, hostname, port, protocol } = new URL(publicUrl);
  if (!isLoopback(hostname)) return route;
  return {
    ...route,
    answer: (request, query) => {
      const asked = URL.parse(`${protocol}//${request.header("host") ?? host}`);
      if (asked === null || asked.host === host || asked.port !== port || !isLoopback(asked.hostname)) {
        return route.answer(request, query);
      }
      const location = `${publicUrl}${request.url}`;
      const redirect = Effect.succeed(emptyResponse(307, { ...privateHeaders, location }));
      return keylessAnswer("public_url", () => redirect)(request, query);
    },
  };
};

const isLoopback = (hostname: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

const needsSignIn = (path: string): boolean =>
  ["/verify", "/go", "/me", "/dashboard"].some((root) => isUnder(root, path)) &&
  path !== stylePath &&
  !isUnder("/dashboard/api", path);

const isFlow = (url: string): boolean =>
  isUnder("/verify", url) || isUnder("/go", url) || url === "/" || url.startsWith("/?");
