import { Struct } from "effect";
import { accessesOf, type Route } from "../route.ts";
import { serviceVersions } from "../v2/envelope.ts";
import type { Components } from "./components.ts";
import type { Header, Parameter, Reference } from "./document.ts";

const text = { type: "string" };
const count = { type: "integer" };

const time = { type: "string", format: "date-time" };

/** The headers of responses: the short names of their components, their descriptions and schemas. */
const headers = {
  "X-Request-Id": ["RequestId", "The id of the request", text],
  "Service-Version": ["Version", "The dated contract of the response", text],
  "X-RateLimit-Limit": [
    "Limit",
    "Requests per short window; on session routes, verification requests per UTC day",
    count,
  ],
  "X-RateLimit-Remaining": ["Remaining", "Requests left in that window", count],
  "X-RateLimit-Reset": ["Reset", "When that window ends, in seconds since the Unix epoch", count],
  "X-RateLimit-Limit-Day": [
    "DayLimit",
    "Requests per UTC day; on session routes, verification requests",
    count,
  ],
  "X-RateLimit-Remaining-Day": ["DayRemaining", "Requests left today", count],
  "RateLimit-Policy": [
    "RateLimitPolicy",
    'The windows of the key as draft-ietf-httpapi-ratelimit-headers writes them, such as `"second";q=1;w=2, "day";q=500;w=86400`',
    text,
  ],
  RateLimit: [
    "RateLimitNow",
    'The window of the key with the fewest requests left, their number, and the seconds to its reset, such as `"second";r=0;t=2`',
    text,
  ],
  "X-Key-Expires": ["KeyExpires", "When the key expires; sent in its last 7 days", time],
  "Retry-After": ["RetryAfter", "Seconds to wait before a retry", count],
  "WWW-Authenticate": ["Challenge", "`Bearer`", text],
  Location: ["Flow", "The public verification flow", { type: "string", format: "uri" }],
  "Idempotent-Replayed": ["Replayed", "`true` on a repeated response", { type: "string", const: "true" }],
} as const satisfies Record<string, readonly [name: string, description: string, schema: Header["schema"]]>;

type HeaderName = keyof typeof headers;
type Headers = Readonly<Record<string, Reference>>;

const limits = Struct.keys(headers).filter((name) => name.includes("RateLimit"));

const referTo = (components: Components, names: ReadonlyArray<HeaderName>): Headers =>
  Object.fromEntries(
    names.map((header) => {
      const [name, description, schema] = headers[header];
      return [header, components.share("headers", name, { description, schema })];
    }),
  );

const isForOwners = ({ access }: Route) => access === "session";

const versionOf = ({ generation }: Route) => (generation === "v2" ? (["Service-Version"] as const) : []);

/** Returns the rate limit headers that the route's emulated service adds; empty for a route of v1 or v2. */
const limitsOfService = (components: Components, { service }: Route): Headers =>
  Object.fromEntries(
    Object.entries(service?.limitHeaders ?? {}).map(([name, description]) => [
      name,
      components.share("headers", name.replaceAll("-", ""), { description, schema: text }),
    ]),
  );

export const successHeaders = (components: Components, route: Route): Headers => ({
  ...referTo(components, [
    "X-Request-Id",
    ...versionOf(route),
    ...(accessesOf(route).length > 0 ? ([...limits, "X-Key-Expires"] as const) : []),
    ...(route.isIdempotent === true ? (["Idempotent-Replayed"] as const) : []),
  ]),
  ...limitsOfService(components, route),
});

export const redirectHeaders = (components: Components, route: Route): Headers =>
  referTo(components, ["Location", "X-Request-Id", ...versionOf(route)]);

/** Returns the headers of a refusal, without those that a refused client does not need. */
export const refusalHeaders = (components: Components, route: Route, status: number): Headers => ({
  ...referTo(components, [
    "X-Request-Id",
    ...versionOf(route),
    ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
    ...(status === 429 ? limits : []),
    ...(status === 429 || status === 503 ? (["Retry-After"] as const) : []),
    ...(route.generation === "v2" && status === 409 && !isForOwners(route)
      ? (["Idempotent-Replayed"] as const)
      : []),
  ]),
  ...(status === 429 ? limitsOfService(components, route) : {}),
});

const requestHeader = (name: string, description: string, schema: Header["schema"] = text): Parameter => ({
  name,
  in: "header",
  description,
  required: false,
  schema,
});

const versionHeader = requestHeader(
  "Service-Version",
  `Dated contract of the response, ${serviceVersions[0]} when left out`,
  { type: "string", enum: serviceVersions },
);

const lastEventHeader = requestHeader(
  "Last-Event-ID",
  "The id of the last event that the client has seen; a request with it may ignore the interval of reads",
);

const idempotencyHeader = requestHeader(
  "Idempotency-Key",
  "A name that the client gives to the request, such as a UUID. Its first response below 500 (except " +
    "429) is stored for 24 hours and repeated for the same request; a different request under the key fails with CONFLICT",
  { type: "string", pattern: "^[!-~]{1,255}$" },
);

const csrfHeader = (isRequired: boolean) => ({
  ...requestHeader(
    "X-CSRF-Token",
    `\`csrfToken\` of the session. \`Origin\` must be the service's origin, as browsers send it${
      isRequired ? "" : "; a request with a key needs neither"
    }`,
  ),
  required: isRequired,
});

export const requestHeadersOf = (
  components: Components,
  route: Route,
): ReadonlyArray<Parameter | Reference> =>
  [
    ...(route.generation === "v2" && !isForOwners(route) ? [versionHeader] : []),
    ...(isForOwners(route) && route.method !== "GET" ? [csrfHeader(accessesOf(route).length === 0)] : []),
    ...(route.isIdempotent === true ? [idempotencyHeader] : []),
    ...(route.isStream === true ? [lastEventHeader] : []),
  ].map((header) => components.parameter(header) ?? header);
