import { Schema } from "effect";
import type { Parameters } from "../parameter.ts";
import { defineRoute, type Method, type RouteOptions } from "../route.ts";
import { success } from "../v2/envelope.ts";

interface Options<P extends Parameters, Fields extends Schema.Struct.Fields>
  extends Pick<RouteOptions<P>, "id" | "summary" | "parameters" | "requiresOneOf" | "errors"> {
  /** Where values are read; the query for GET and DELETE when left out, otherwise the body. */
  readonly source?: "body";
  readonly status?: 201;
  /** The fields of `data`. */
  readonly data: Fields;
}

/** Makes a dashboard route. `role` is the lowest role that may use it. `path` is below `/dashboard/api`. */
export const signedIn = <const P extends Parameters, const Fields extends Schema.Struct.Fields>(
  role: NonNullable<RouteOptions<Parameters>["role"]>,
  method: Method,
  path: `/${string}`,
  { data, ...options }: Options<P, Fields>,
) =>
  defineRoute({
    generation: "v2",
    access: "session",
    group: null,
    method,
    role,
    path: `/dashboard/api${path}`,
    source: method === "GET" || method === "DELETE" ? "query" : "body",
    ...options,
    success: success(Schema.Struct(data), options.status ?? 200),
  });
