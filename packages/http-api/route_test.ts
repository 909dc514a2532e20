import { assert, describe, it } from "@effect/vitest";
import { openApi } from "./open_api.ts";
import { flag, type Parameters, premiumFlag } from "./parameter.ts";
import { defineRoute, pathTemplate, type Route, refusalsOf, takesKey } from "./route.ts";
import { routes } from "./routes.ts";
import { statusesByCode } from "./status.ts";
import { getGame } from "./v2/lookups.ts";
import { deleteData } from "./v2/writes.ts";

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

  it("are counted in the usage of keys if they take one", () => {
    for (const route of routes) assert.strictEqual(route.group !== null, takesKey(route), route.id);
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

describe("defineRoute", () => {
  it("adds the code of a parameter that needs a Premium key", () => {
    const codesWith = (more: Parameters) => defineRoute({ ...getGame, parameters: more, errors: [] }).codes;
    assert.isTrue(codesWith({ profiles: premiumFlag("Whether to add profiles") }).has("PREMIUM_REQUIRED"));
    assert.isFalse(codesWith({ resolved: flag("Another") }).has("PREMIUM_REQUIRED"));
  });
});

describe("openApi", () => {
  const { openapi, paths } = openApi();
  const operationOf = (route: Route) =>
    paths[pathTemplate(route) as "/"]?.[route.method.toLowerCase() as "get"];
  const successesOf = ({ id, access }: Route): ReadonlyArray<string> => {
    if (access === "redirect") return ["302"];
    const success = ["createSession", "createVerifySession"].includes(id) ? "201" : "200";
    return access === "key_or_redirect" ? [success, "302"] : [success];
  };

  it("has every route with its parameters and statuses", () => {
    assert.match(openapi, /^3\.1\./);
    for (const route of routes) {
      const operation = operationOf(route);
      assert.strictEqual(operation?.operationId, route.id);
      const statuses = [...successesOf(route), ...refusalsOf(route).map(([status]) => String(status))];
      assert.sameMembers(Object.keys(operation?.responses ?? {}), statuses);
      const inUrl = (operation?.parameters ?? []).filter((parameter) => parameter.in !== "header");
      const expected = route.source === "query" ? Object.keys(route.parameters) : [];
      assert.deepStrictEqual(
        inUrl.map(({ name }) => name),
        expected,
      );
    }
  });

  it("requires what cannot be left out, and the confirmation of a deletion with it", () => {
    const body = operationOf(deleteData)?.requestBody?.content["application/json"]?.schema;
    assert.deepStrictEqual((body as { readonly required?: unknown }).required, ["confirm"]);
  });

  it("asks for a key on every route but those that take none", () => {
    for (const route of routes) {
      assert.strictEqual((operationOf(route)?.security.length ?? 0) > 0, takesKey(route), route.id);
    }
  });

  it("has the events of a session as a stream of them", () => {
    const streams = routes.filter(({ isStream }) => isStream);
    assert.lengthOf(streams, 2);
    for (const route of streams) {
      assert.hasAllKeys(operationOf(route)?.responses[200]?.content, ["text/event-stream"]);
    }
  });
});
