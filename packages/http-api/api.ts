/**
 * The whole contract: every route, and the HttpApi made of them for the OpenAPI document and its page.
 */
import { Schema } from "effect";
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
  OpenApi,
} from "effect/http-api";
import type { ParameterSource, Parameters } from "./parameter.ts";
import { type Route, refusalsOf } from "./route.ts";
import { failure as v1Failure } from "./v1/envelope.ts";
import * as v1 from "./v1/links.ts";
import { failure as v2Failure } from "./v2/envelope.ts";
import * as lookups from "./v2/links.ts";
import * as writes from "./v2/writes.ts";

/** Every route of the contract. */
export const routes: ReadonlyArray<Route> = [lookups, writes, v1].flatMap(
  (module) => Object.values(module) as Array<Route>,
);

class Authorization extends HttpApiMiddleware.Service<Authorization>()(
  "@accountlink/http-api/Authorization",
  {
    security: { apiKey: HttpApiSecurity.bearer },
  },
) {}

const fieldsOf = (parameters: Parameters, source: ParameterSource): Schema.Struct.Fields =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, { schema, description, presence }]) => {
      const field = schema(source).annotate({ description });
      const isRequired = presence.globalKeys === "required" || name === "confirm";
      return [name, isRequired ? field : Schema.optionalKey(field)];
    }),
  );

const endpointOf = (route: Route) => {
  const { id, method, path, parameters, source, generation, summary, description, access } = route;
  const fields = fieldsOf(parameters, source);
  const endpoint = HttpApiEndpoint.make(method)(id, path, {
    ...(source === "query" ? { query: fields } : { payload: Schema.Struct(fields) as never }),
    success: route.success,
    error: refusalsOf(route).map(([status, codes]) =>
      (generation === "v2" ? v2Failure(status, codes) : v1Failure(status)).pipe(HttpApiSchema.status(status)),
    ),
  }).annotateMerge(OpenApi.annotations({ summary, ...(description === undefined ? {} : { description }) }));
  return access === "none" ? endpoint : endpoint.middleware(Authorization);
};

const group = (generation: "v1" | "v2", title: string) =>
  HttpApiGroup.make(generation, { topLevel: true })
    .annotate(OpenApi.Title, title)
    .add(...(routes.filter((route) => route.generation === generation).map(endpointOf) as [never]));

/** The contract as an HttpApi. */
export const Api = HttpApi.make("accountlink")
  .add(group("v2", "v2"), group("v1", "v1"))
  .annotateMerge(
    OpenApi.annotations({
      title: "accountlink",
      version: "2.0.0",
      description:
        "Links between chat-platform accounts and game-platform accounts, inside the data scope of an API key. Every answer to an accepted key with limits carries X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Limit-Day and X-RateLimit-Remaining-Day, every 429 a Retry-After, every answer an X-Request-Id.",
    }),
  );

/** The OpenAPI 3.1 document of the contract. */
export const openApi = (): OpenApi.OpenAPISpec => OpenApi.fromApi(Api);
