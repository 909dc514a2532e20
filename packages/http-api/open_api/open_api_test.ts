import { eventTypes } from "@accountlink/core/events";
import { assert, it } from "@accountlink/test-servers/effect";
import { type JsonSchema, Option, Schema } from "effect";
import { compatRoutes, otherServices } from "../compat/compat_routes.ts";
import { dashboardRoutes } from "../dashboard/dashboard_routes.ts";
import { parameterCodec } from "../parameter.ts";
import { pathTemplate, type Route, refusalsOf, takesKey } from "../route.ts";
import { routes } from "../routes.ts";
import { deleteData, patchGame } from "../v2/writes.ts";
import type { Operation, Parameter, Reference, Response } from "./document.ts";
import { openApi } from "./open_api.ts";

const document = openApi("http://127.0.0.1:8080");

const isReference = (value: object): value is Reference => "$ref" in value;

const resolve = (value: object): unknown =>
  isReference(value)
    ? value.$ref
        .split("/")
        .slice(1)
        .reduce((part: unknown, name) => (part as Readonly<Record<string, unknown>>)[name], document)
    : value;

type Fields = Readonly<Record<string, JsonSchema.JsonSchema>>;

const operationOf = (route: Route): Operation => {
  const operation = document.paths[pathTemplate(route)]?.[route.method.toLowerCase() as "get"];
  if (operation === undefined) throw new Error(`Cannot find the operation of ${route.id}`);
  return operation;
};

const parametersOf = (route: Route) =>
  operationOf(route).parameters.map((parameter) => resolve(parameter) as Parameter);

it("the OpenAPI document names the URL of the service", () => {
  assert.deepStrictEqual(
    document.servers.map(({ url }) => url),
    ["http://127.0.0.1:8080"],
  );
});

it("the OpenAPI document describes every operation, with a sample request", () => {
  for (const route of routes) {
    const { description, requestBody } = operationOf(route);
    assert.match(description, /^[A-Z].*\.$/, route.id);
    if (route.source === "body") assert.isDefined(requestBody?.content["application/json"]?.example);
  }
});

it("the OpenAPI document lists the reasons of each route alone, each with what it asks for", () => {
  const reasonsAt = (route: Route, status: number) => {
    const answer = resolve(operationOf(route).responses[status] ?? {}) as { readonly content?: object };
    const text = JSON.stringify(answer.content ?? {});
    return Array.from(text.matchAll(/schemas\/Reason_(\w+)/g), ([, reason = ""]) => reason);
  };
  assert.sameMembers(reasonsAt(patchGame, 409), [
    "idempotency_key_reused",
    "idempotency_key_in_use",
    "user_erased",
    "link_limit",
    "blocked",
    "game_taken",
  ]);
  for (const route of [...routes, ...dashboardRoutes].filter(({ generation }) => generation !== "compat")) {
    const { responses, "x-reasons": own } = operationOf(route);
    const listed: ReadonlyArray<string> =
      own ?? [403, 409, 429].flatMap((status) => reasonsAt(route, status));
    const shown = JSON.stringify(Object.values(responses).map(resolve));
    assert.sameMembers([...listed], [...route.reasons], route.id);
    for (const reason of listed) {
      const { description } = resolve({
        $ref: `#/components/schemas/Reason_${reason}`,
      }) as JsonSchema.JsonSchema;
      assert.match(String(description), /^[A-Z].{10,}[^.]$/, reason);
      if (own !== undefined) assert.include(shown, `"${reason}":{"value":{"status":`, route.id);
    }
  }
});

it("the OpenAPI document shows an answer for every operation of the dashboard", () => {
  for (const route of dashboardRoutes) {
    const { content = {} } = resolve(operationOf(route).responses[route.status ?? 200] ?? {}) as Response;
    assert.isDefined(Object.values(content)[0]?.example, route.id);
  }
});

it("the OpenAPI document shows a body for every operation of the dashboard, which the operation takes", () => {
  for (const { id, parameters, source, ...route } of dashboardRoutes) {
    const fields = Object.entries(parameters).filter(([, { isInPath }]) => isInPath !== true);
    if (source === "query" || fields.length === 0) continue;
    const media = operationOf({ id, parameters, source, ...route }).requestBody?.content["application/json"];
    const example = media?.example as Readonly<Record<string, unknown>>;
    assert.isDefined(example, id);
    assert.includeMembers(
      fields.map(([name]) => name),
      Object.keys(example),
    );
    for (const [name, parameter] of fields) {
      if (name in example) Schema.decodeUnknownSync(parameterCodec(parameter, "body"))(example[name]);
      else assert.isTrue(Option.isSome(parameter.fallback) || parameter.isOfKey, `${id} ${name}`);
    }
    const { requiresOneOf } = route;
    const { anyOf } = resolve(media?.schema ?? {}) as { readonly anyOf?: unknown };
    assert.deepStrictEqual(
      anyOf,
      requiresOneOf?.map((name) => ({ required: [name] })),
      id,
    );
  }
});

it("the OpenAPI document shows the responses and refusals of emulated APIs of other services", () => {
  for (const route of compatRoutes) {
    const { responses, security = [], tags } = operationOf(route);
    assert.deepStrictEqual(tags, ["Compatible"]);
    assert.lengthOf(security, route.service?.credentials.length ?? 0);
    assert.deepStrictEqual(
      parametersOf(route).map(({ name }) => name),
      Object.keys(route.parameters),
    );
    for (const [status, response] of Object.entries(responses)) {
      const { content } = resolve(response) as { readonly content: Record<string, object> };
      assert.isDefined(content["application/json"], `${route.id} ${status}`);
    }
    assert.includeMembers(Object.keys(responses), ["200", "400", "401", "403", "404", "429", "503"]);
  }
  const services = new Set(compatRoutes.map(({ service }) => service));
  assert.sameMembers([...services], [...otherServices]);
});

it("the OpenAPI document describes the dashboard's JSON, its cookie and the token for writes", () => {
  assert.isNotEmpty(dashboardRoutes);
  for (const route of dashboardRoutes) {
    const { security, tags, description, responses } = operationOf(route);
    const takesKeys = route.keyAccess?.includes("manage") === true;
    const schemes = [{ dashboardSession: [] }, ...(takesKeys ? [{ apiKey: [] }] : [])];
    assert.deepStrictEqual([security, tags], [schemes, ["Dashboard"]]);
    assert.strictEqual(description.endsWith("for keys with access `manage`."), takesKeys, route.id);
    const token = parametersOf(route).find(({ name }) => name === "X-CSRF-Token");
    assert.strictEqual(token?.required, route.method === "GET" ? undefined : !takesKeys, route.id);
    assert.containsAllKeys(responses, [String(route.status ?? 200), "401", "403", "404", "429"], route.id);
  }
  const cookie = document.components["securitySchemes"]?.["dashboardSession"];
  assert.deepInclude(cookie, { in: "cookie", name: "accountlink_session" });
  const body = resolve({ $ref: "#/components/schemas/CreateKeyBody" }) as { readonly properties: Fields };
  assert.deepStrictEqual(body.properties["expiresAt"]?.["type"], ["string", "null"]);
});

it("the OpenAPI document describes the webhook requests of each type of event", () => {
  assert.hasAllKeys(document.webhooks, [...eventTypes, "test"]);
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const body = resolve(post.requestBody?.content["application/json"]?.schema ?? {});
    const { properties } = body as { readonly properties: Fields };
    assert.hasAllKeys(properties, ["type", "timestamp", "data", "scope"]);
    assert.deepStrictEqual(properties["type"]?.["enum"], [type]);
  }
});

it("in the OpenAPI document, the name of each refusal contains all error codes of the refusal", () => {
  for (const route of routes.filter(({ generation }) => generation === "v2")) {
    for (const [status, codes] of refusalsOf(route)) {
      const { $ref } = operationOf(route).responses[status] as Reference;
      assert.includeMembers($ref.replace(/.*\//, "").split("."), [...codes], `${route.id} ${status}`);
    }
  }
});

it("in the OpenAPI document, the description of each guildId says whether a guild-scoped key must send it", () => {
  const rules = routes.flatMap((route) => {
    const guild = parametersOf(route).find(({ name }) => name === "guildId");
    return guild === undefined ? [] : [{ route, rule: guild.description.split(",")[0] }];
  });
  assert.isNotEmpty(rules);
  for (const { route, rule } of rules) {
    const isRequired = route.parameters["guildId"]?.presence?.guildKeys === "required";
    assert.strictEqual(rule, `${isRequired ? "Required" : "Optional"} with a guild-scoped key`, route.id);
  }
});

it("the OpenAPI document requires each parameter without a default, such as the confirmation of a deletion", () => {
  const body = resolve(operationOf(deleteData).requestBody?.content["application/json"]?.schema ?? {});
  assert.deepStrictEqual((body as { readonly required?: unknown }).required, ["confirm"]);
});

it("the OpenAPI document requires a key on every route that is not keyless", () => {
  for (const route of routes) {
    const { security = document.security } = operationOf(route);
    assert.strictEqual(security.length > 0, takesKey(route), route.id);
  }
});

it("the OpenAPI document describes streams as server-sent events", () => {
  const streams = routes.filter(({ isStream }) => isStream);
  assert.lengthOf(streams, 3);
  for (const route of streams) {
    const response = operationOf(route).responses[200] ?? {};
    assert.hasAllKeys("content" in response ? response.content : {}, ["text/event-stream"]);
  }
});

it("the OpenAPI document lists the fields that are null in each session state", () => {
  const { anyOf } = resolve({ $ref: "#/components/schemas/VerificationSession" }) as {
    readonly anyOf: ReadonlyArray<Reference>;
  };
  const fieldsOf = (state: string) => {
    const states = anyOf.map((each) => (resolve(each) as JsonSchema.JsonSchema)["properties"] as Fields);
    return states.find((fields) => JSON.stringify(fields["state"]).includes(`"${state}"`)) ?? {};
  };
  assert.strictEqual(fieldsOf("pending")["previousGameId"]?.["type"], "null");
  assert.isUndefined(fieldsOf("completed")["gameId"]?.["type"]);
  assert.strictEqual(fieldsOf("failed")["completedAt"]?.["type"], "null");
});

it("the OpenAPI document is smaller than 520 kB", () => {
  assert.isBelow(JSON.stringify(document).length, 520_000);
});

it("the OpenAPI document contains exactly the components that it references", () => {
  const text = JSON.stringify(document);
  const used = new Set(Array.from(text.matchAll(/"#\/components\/([^"]+)"/g), ([, name]) => name));
  const { securitySchemes: _, ...shared } = document.components;
  const known = Object.entries(shared).flatMap(([kind, values]) =>
    Object.keys(values).map((name) => `${kind}/${name}`),
  );
  assert.sameMembers([...used], known);
});
