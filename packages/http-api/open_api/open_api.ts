/** The OpenAPI 3.1 document, generated from the routes. */
import { compatRoutes, otherServices } from "../compat/compat_routes.ts";
import { dashboardRoutes } from "../dashboard/dashboard_routes.ts";
import { pathTemplate } from "../route.ts";
import { routes } from "../routes.ts";
import { version } from "../v2/envelope.ts";
import { Components } from "./components.ts";
import type { Document } from "./document.ts";
import { dashboardSession, operationOf, schemeName, schemeOf, tags } from "./operation.ts";
import { webhooks } from "./webhooks.ts";

const info = {
  title: "accountlink",
  version,
  description:
    "Links between chat-platform accounts and game-platform accounts, inside the data scope of an " +
    "API key. v2 is the interface for new work; v1 remains available.",
  license: { name: "MIT", identifier: "MIT" },
  contact: { name: "The operator of this service" },
};

const apiKey = {
  type: "http",
  scheme: "bearer",
  description:
    "An API key, `alk_…`. A guild-scoped key names its own guild as `guildId`, where an operation takes one; a global key may leave it out",
};

const compatSchemes = Object.fromEntries(
  otherServices.flatMap((service) =>
    service.credentials
      .filter(({ scheme }) => scheme !== "Bearer")
      .map((credential) => [schemeName(credential), schemeOf(credential)]),
  ),
);

/**
 * Returns the OpenAPI document of the contract.
 *
 * @param serverUrl where clients reach the service, without a trailing slash
 * @param served whether the compatible routes are left out
 * @example
 * ```ts
 * const document = openApi("https://links.example");
 * const paths = new Set([...routes, ...dashboardRoutes, ...compatRoutes].map(pathTemplate));
 * Object.keys(document.paths).length === paths.size; // true
 * ```
 */
export const openApi = (
  serverUrl: string,
  { withoutCompat = false }: { readonly withoutCompat?: boolean } = {},
): Document => {
  const components = new Components();
  const paths: Record<string, Document["paths"][string]> = {};
  for (const route of [...routes, ...dashboardRoutes, ...(withoutCompat ? [] : compatRoutes)]) {
    const path = pathTemplate(route);
    const method = route.method.toLowerCase() as Lowercase<typeof route.method>;
    paths[path] = { ...paths[path], [method]: operationOf(components, route) };
  }
  return {
    openapi: "3.1.0",
    info,
    servers: [{ url: serverUrl, description: "This service" }],
    tags: withoutCompat ? tags.filter(({ name }) => name !== "Compatible") : tags,
    security: [{ apiKey: [] }],
    paths,
    webhooks: webhooks(components),
    components: {
      ...components.all,
      securitySchemes: { apiKey, dashboardSession, ...(withoutCompat ? {} : compatSchemes) },
    },
  };
};
