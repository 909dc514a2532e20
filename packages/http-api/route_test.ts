import { assert, describe, it } from "@effect/vitest";
import { openApi } from "./open_api.ts";
import { refusalsOf } from "./route.ts";
import { routes } from "./routes.ts";
import { statusesByCode } from "./status.ts";

describe("routes", () => {
  it("have an id, and a method and path, of their own", () => {
    assert.strictEqual(new Set(routes.map(({ id }) => id)).size, routes.length);
    assert.strictEqual(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size, routes.length);
  });

  it("stand under the prefix of their generation", () => {
    for (const { generation, path } of routes) {
      assert.isTrue(path.startsWith(generation === "v2" ? "/v2/" : "/api/v1/"), path);
    }
  });

  it("name no refusal with a status that its code does not have", () => {
    for (const route of routes) {
      for (const [status, codes] of refusalsOf(route)) {
        for (const code of codes) {
          const worded = route.wordings?.[code]?.status;
          assert.include<number>(worded === undefined ? statusesByCode[code] : [worded], status);
        }
      }
    }
  });
});

describe("openApi", () => {
  it("has every route with its parameters and statuses", () => {
    const { openapi, paths } = openApi();
    assert.match(openapi, /^3\.1\./);
    for (const route of routes) {
      const operation = paths[route.path]?.[route.method.toLowerCase() as "get"];
      assert.strictEqual(operation?.operationId, route.id);
      const redirect = route.access === "key_or_redirect" ? ["302"] : [];
      const statuses = ["200", ...redirect, ...refusalsOf(route).map(([status]) => String(status))];
      assert.sameMembers(Object.keys(operation?.responses ?? {}), statuses);
      const query = (operation?.parameters ?? []).filter((parameter) => parameter.in === "query");
      const expected = route.source === "query" ? Object.keys(route.parameters) : [];
      assert.deepStrictEqual(
        query.map(({ name }) => name),
        expected,
      );
    }
  });

  it("asks for a key on every route but those that take none", () => {
    const { paths } = openApi();
    for (const route of routes) {
      const operation = paths[route.path]?.[route.method.toLowerCase() as "get"];
      assert.strictEqual((operation?.security.length ?? 0) > 0, route.access !== "none", route.id);
    }
  });
});
