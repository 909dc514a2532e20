import { type HttpSettings, isUnder, type Pages, type Router } from "@accountlink/http/for_pages";
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
  const routes = [...flow.routes, ...dashboard.routes, ...me.routes, ...chat];
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

const needsSignIn = (path: string): boolean =>
  ["/verify", "/go", "/me", "/dashboard"].some((root) => isUnder(root, path)) &&
  path !== stylePath &&
  !isUnder("/dashboard/api", path);

const isFlow = (url: string): boolean =>
  isUnder("/verify", url) || isUnder("/go", url) || url === "/" || url.startsWith("/?");
