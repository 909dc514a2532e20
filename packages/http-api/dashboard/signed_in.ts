import type { Parameters } from "../parameter.ts";
import type { Method, RouteOptions } from "../route.ts";

type Role = NonNullable<RouteOptions<Parameters>["role"]>;

/** Returns the common fields of a dashboard route. `role` is the lowest role that may use the route. */
export const signedIn = (method: Method, role: Role) =>
  ({
    generation: "v2",
    access: "session",
    group: null,
    method,
    role,
    source: method === "GET" || method === "DELETE" ? "query" : "body",
  }) as const;
