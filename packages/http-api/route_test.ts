import { assert, it } from "@accountlink/test-servers/effect";
import { compatRoutes } from "./compat/compat_routes.ts";
import { statusesOf } from "./errors.ts";
import { flag, type Parameters, premiumFlag } from "./parameter.ts";
import { defineRoute, refusalsOf, takesKey } from "./route.ts";
import { routes as ownRoutes } from "./routes.ts";
import { getGame } from "./v2/lookups.ts";

const routes = [...ownRoutes, ...compatRoutes];
const prefixes = { v1: "/api/v1/", v2: "/v2/" };

it("every route has a unique id, and a unique combination of method and path", () => {
  assert.strictEqual(new Set(routes.map(({ id }) => id)).size, routes.length);
  assert.strictEqual(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size, routes.length);
});

it("each path starts with the prefix of the route's generation", () => {
  for (const { generation, service, path } of routes) {
    const prefix = generation === "compat" ? `${service?.prefix}/` : prefixes[generation];
    assert.isTrue(path.startsWith(prefix), path);
  }
});

it("a route that takes a key has a usage group, and a route that takes no key has none", () => {
  for (const route of routes) assert.strictEqual(route.group !== null, takesKey(route), route.id);
});

it("a route lists each error code only under the statuses that this code can have", () => {
  for (const route of routes) {
    for (const [status, codes] of refusalsOf(route)) {
      for (const code of codes) {
        const worded = route.wordings?.[code]?.status;
        assert.include(worded === undefined ? statusesOf(code) : [worded], status);
      }
    }
  }
});

it("no v1 route answers 409", () => {
  const statuses = ownRoutes
    .filter(({ generation }) => generation === "v1")
    .flatMap((route) => refusalsOf(route).map(([status]) => status));
  assert.notInclude(statuses, 409);
});

it("defineRoute adds the error code of a parameter that needs a Premium key", () => {
  const codesWith = (more: Parameters) => defineRoute({ ...getGame, parameters: more, errors: [] }).codes;
  assert.isTrue(codesWith({ profiles: premiumFlag("Whether to add profiles") }).has("PREMIUM_REQUIRED"));
  assert.isFalse(codesWith({ resolved: flag("Another") }).has("PREMIUM_REQUIRED"));
});
