import { Option, Schema } from "effect";
import type { Parameter as RouteParameter } from "../parameter.ts";
import { type Route, takesKey } from "../route.ts";
import type { Components } from "./components.ts";
import type { Operation, Parameter, Reference } from "./document.ts";
import { requestHeadersOf } from "./headers.ts";
import { responsesOf, typeName } from "./responses.ts";
import { securityOf } from "./security.ts";
import { tagOf } from "./tags.ts";

/** The schema of the parameter's value in a request. */
const sentSchema = ({ schema, isText }: RouteParameter<unknown>): Schema.Top =>
  isText === true ? Schema.toEncoded(schema) : Schema.toType(schema);

const parametersOf = (components: Components, route: Route): ReadonlyArray<Parameter | Reference> =>
  Object.entries(route.parameters)
    .filter(([, { isInPath }]) => isInPath === true || route.source === "query")
    .map(([name, routeParameter]) => {
      const { isInPath, description, fallback } = routeParameter;
      const example = route.example?.values[name];
      const parameter: Parameter = {
        name,
        in: isInPath === true ? "path" : "query",
        description,
        required: Option.isNone(fallback),
        schema: components.schema(sentSchema(routeParameter)),
        ...(example === undefined ? {} : { example }),
      };
      return components.parameter(parameter) ?? parameter;
    });

const fieldOf = (parameter: RouteParameter<unknown>): Schema.Top => {
  const field = sentSchema(parameter).annotateKey({ description: parameter.description });
  return Option.isNone(parameter.fallback) ? field : Schema.optionalKey(field);
};

const bodyOf = (components: Components, route: Route): Pick<Operation, "requestBody"> => {
  const { source, parameters, listItem, example } = route;
  const fields = Object.entries(parameters).filter(([, { isInPath }]) => isInPath !== true);
  if (source === "query" || fields.length === 0) return {};
  const object = Schema.Struct(
    Object.fromEntries(fields.map(([name, parameter]) => [name, fieldOf(parameter)])),
  ).annotate({ identifier: typeName(route, "Body") });
  const body = listItem === undefined ? object : Schema.Union([object, Schema.Array(listItem)]);
  const content = {
    "application/json": { schema: components.schema(body), example: example?.values },
  };
  return { requestBody: { required: fields.some(([, { fallback }]) => Option.isNone(fallback)), content } };
};

/** The description of a route, including the keys that may use it. */
const descriptionOf = ({ description = "", keyAccess = [], ...route }: Route): string => {
  if (route.access === "session") return "For an owner who is signed in to the dashboard.";
  if (!takesKey(route)) return description;
  const accesses = ["full", ...keyAccess].map((access) => `\`${access}\``);
  return `${description && `${description} `}For keys with access ${accesses.join(" or ")}.`;
};

/** The operation of a route; shared parts become components. */
export const operationOf = (components: Components, route: Route): Operation => ({
  operationId: route.id,
  tags: [tagOf(route)],
  summary: route.summary,
  description: descriptionOf(route),
  parameters: [...parametersOf(components, route), ...requestHeadersOf(components, route)],
  ...bodyOf(components, route),
  ...securityOf(route),
  responses: responsesOf(components, route),
});
