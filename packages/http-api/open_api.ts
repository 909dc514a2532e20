/**
 * The OpenAPI 3.1 document, made from the routes by way of an HttpApi.
 */
import { Array as Arr, type JsonSchema, Option, Schema } from "effect";
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
  OpenApi,
} from "effect/http-api";
import type { Parameters } from "./parameter.ts";
import { type Generation, type Method, pathTemplate, type Route, refusalsOf, takesKey } from "./route.ts";
import { routes } from "./routes.ts";
import { failure as v1Failure } from "./v1/envelope.ts";
import { serviceVersions, failure as v2Failure } from "./v2/envelope.ts";

class Authorization extends HttpApiMiddleware.Service<Authorization>()(
  "@accountlink/http-api/Authorization",
  {
    security: {
      apiKey: HttpApiSecurity.bearer.pipe(
        HttpApiSecurity.annotate(OpenApi.Description, "An API key, `alk_…`"),
      ),
    },
  },
) {}

const fieldsOf = (parameters: Parameters, isInPath: boolean): Schema.Struct.Fields =>
  Object.fromEntries(
    Object.entries(parameters)
      .filter(([, parameter]) => (parameter.isInPath ?? false) === isInPath)
      .map(([name, { schema, description, fallback }]) => {
        const field = Schema.toEncoded(schema).annotateKey({ description });
        return [name, Option.isNone(fallback) ? field : Schema.optionalKey(field)];
      }),
  );

const bodyOf = ({ listItem }: Route, fields: Schema.Struct.Fields) => {
  const object = Schema.Struct(fields);
  return listItem === undefined ? object : Schema.Union([object, Schema.Array(listItem)]);
};

/** The description of a route, with the keys that it is for. */
const descriptionOf = ({ description, keyAccess = [], ...route }: Route): string | undefined => {
  if (!takesKey(route)) return description;
  const accesses = ["full", ...keyAccess].map((access) => `\`${access}\``);
  const keys = `For keys with access ${accesses.join(" or ")}.`;
  return description === undefined ? keys : `${description} ${keys}`;
};

const endpointOf = (route: Route) => {
  const { id, method, path, parameters, source, generation, summary, traffic } = route;
  const description = descriptionOf(route);
  const fields = fieldsOf(parameters, false);
  const endpoint = HttpApiEndpoint.make(method)(id, path, {
    params: fieldsOf(parameters, true),
    ...(source === "query" ? { query: fields } : { payload: bodyOf(route, fields) }),
    success: route.success,
    error: refusalsOf(route).map(([status, codes]) =>
      (generation === "v2" ? v2Failure(status, codes) : v1Failure(status, traffic)).pipe(
        HttpApiSchema.status(status),
      ),
    ),
  }).annotateMerge(OpenApi.annotations({ summary, ...(description === undefined ? {} : { description }) }));
  return takesKey(route) ? endpoint.middleware(Authorization) : endpoint;
};

const groupOf = (generation: Generation) => {
  const group = HttpApiGroup.make(generation, { topLevel: true });
  const endpoints = routes.filter((route) => route.generation === generation).map(endpointOf);
  return Arr.isArrayNonEmpty(endpoints) ? group.add(...endpoints) : group;
};

const headers = {
  requestId: { "X-Request-Id": "The id of the request" },
  version: { "Service-Version": "The dated contract of the answer" },
  limits: {
    "X-RateLimit-Limit": "Requests per short window; on session routes, verification requests per UTC day",
    "X-RateLimit-Remaining": "Requests left in that window",
    "X-RateLimit-Reset": "When that window ends, in seconds since the Unix epoch",
    "X-RateLimit-Limit-Day": "Requests per UTC day; on session routes, verification requests",
    "X-RateLimit-Remaining-Day": "Requests left today",
    "X-Key-Expires": "When the key ends, in its last 7 days",
  },
  retry: { "Retry-After": "Seconds to wait before another try" },
  challenge: { "WWW-Authenticate": "Bearer" },
  location: { Location: "The public verification flow" },
  replayed: { "Idempotent-Replayed": "`true` on an answer that was given before" },
};

/** Of answers that are kept under an idempotency key. */
const replayedStatuses = new Set(["200", "201", "400", "403", "404", "409", "410"]);

const headersOf = (route: Route, status: string): Record<string, string> => ({
  ...headers.requestId,
  ...(route.generation === "v2" ? headers.version : {}),
  ...(takesKey(route) && !["302", "401"].includes(status) ? headers.limits : {}),
  ...(status === "429" || status === "503" ? headers.retry : {}),
  ...(status === "401" ? headers.challenge : {}),
  ...(status === "302" ? headers.location : {}),
  ...(route.isIdempotent === true && replayedStatuses.has(status) ? headers.replayed : {}),
});

const versionHeader: OpenApi.OpenAPISpecParameter = {
  name: "Service-Version",
  in: "header",
  description: `Dated contract of the answer, ${serviceVersions[0]} when left out`,
  required: false,
  schema: { type: "string", enum: [...serviceVersions] },
};

const lastEventHeader: OpenApi.OpenAPISpecParameter = {
  name: "Last-Event-ID",
  in: "header",
  description:
    "The id of the last event that the client has seen; with it, the interval of reads need not be kept",
  required: false,
  schema: { type: "string" },
};

/** The schema of a body, or the alternatives of one. */
const objectsIn = (schema: JsonSchema.JsonSchema): ReadonlyArray<JsonSchema.JsonSchema> =>
  Array.isArray(schema["anyOf"]) ? schema["anyOf"] : [schema];

const idempotencyHeader: OpenApi.OpenAPISpecParameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A name of the request that the client chooses, such as a UUID. Its first answer below 500 (429 excepted) is kept for 24 hours and given again to the same request; another request under the key is a CONFLICT",
  required: false,
  schema: { type: "string", pattern: "^[!-~]{1,255}$" },
};

/**
 * Adds what HttpApi cannot express: headers, redirects without a key, and that unknown fields of a
 * body are ignored.
 */
const completeOperation = (operation: OpenApi.OpenAPISpecOperation, route: Route): void => {
  const body = operation.requestBody?.content["application/json"];
  for (const schema of objectsIn(body?.schema ?? {})) delete schema["additionalProperties"];
  if (route.generation === "v2") operation.parameters.push(versionHeader);
  if (route.isIdempotent === true) operation.parameters.push(idempotencyHeader);
  if (route.isStream === true) operation.parameters.push(lastEventHeader);
  if (route.access === "key_or_redirect") {
    operation.responses[302] = {
      description: "Without an Authorization header, with every query parameter kept",
    };
    operation.security.push({});
  }
  if (route.access === "redirect") operation.responses[302] = { description: "Whatever the sid" };
  for (const [status, response] of Object.entries(operation.responses)) {
    response.headers = Object.fromEntries(
      Object.entries(headersOf(route, status)).map(([name, description]) => [
        name,
        { description, schema: { type: "string" }, required: false },
      ]),
    );
  }
};

const methodNames = {
  GET: "get",
  POST: "post",
  PUT: "put",
  PATCH: "patch",
  DELETE: "delete",
} as const satisfies Record<Method, OpenApi.OpenAPISpecMethodName>;

const Api = HttpApi.make("accountlink")
  .add(groupOf("v2"), groupOf("v1"))
  .annotateMerge(
    OpenApi.annotations({
      title: "accountlink",
      version: "2.0.0",
      description:
        "Links between chat-platform accounts and game-platform accounts, inside the data scope of an API key. v2 is the interface for new work; v1 remains available.",
    }),
  );

/** The OpenAPI document of the contract. */
export const openApi = (): OpenApi.OpenAPISpec => {
  const spec = OpenApi.fromApi(Api);
  for (const route of routes) {
    const operation = spec.paths[pathTemplate(route)]?.[methodNames[route.method]];
    if (operation !== undefined) completeOperation(operation, route);
  }
  // OpenAPI registers the name of the scheme in lower case.
  const apiKey = { type: "http", scheme: "bearer", description: "An API key, `alk_…`" } as const;
  return { ...spec, components: { ...spec.components, securitySchemes: { apiKey } } };
};
