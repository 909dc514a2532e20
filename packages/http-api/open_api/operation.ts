/** The operation of a route in the OpenAPI document: its tag, security, parameters, body and responses. */
import { Option, Schema } from "effect";
import type { Credential } from "../other_service.ts";
import type { Parameter as RouteParameter } from "../parameter.ts";
import { accessesOf, type Route, takesKey } from "../route.ts";
import type { Components } from "./components.ts";
import type { Operation, Parameter, Reference } from "./document.ts";
import { requestHeadersOf } from "./headers.ts";
import { responsesOf, typeName } from "./responses.ts";

const sentSchema = ({ schema, isText }: RouteParameter<unknown>): Schema.Top =>
  isText === true ? Schema.toEncoded(schema) : Schema.toType(schema);

const parametersOf = (components: Components, route: Route): ReadonlyArray<Parameter | Reference> =>
  Object.entries(route.parameters)
    .filter(([, { isInPath }]) => isInPath === true || route.source === "query")
    .map(([name, routeParameter]) => {
      const { isInPath, description } = routeParameter;
      const example = route.example?.[name];
      const parameter: Parameter = {
        name,
        in: isInPath === true ? "path" : "query",
        description,
        required: isRequired(routeParameter),
        schema: components.schema(sentSchema(routeParameter)),
        ...(example === undefined ? {} : { example }),
      };
      return components.parameter(parameter) ?? parameter;
    });

const fieldOf = (parameter: RouteParameter<unknown>): Schema.Top => {
  const field = sentSchema(parameter).annotateKey({ description: parameter.description });
  return isRequired(parameter) ? field : Schema.optionalKey(field);
};

const isRequired = ({ fallback, isOfKey }: RouteParameter<unknown>): boolean =>
  Option.isNone(fallback) && isOfKey !== true;

const bodyOf = (components: Components, route: Route): Pick<Operation, "requestBody"> => {
  const { source, parameters, listItem, requiresOneOf = [], csvBody } = route;
  const fields = Object.entries(parameters).filter(([, { isInPath }]) => isInPath !== true);
  if (source === "query" || fields.length === 0) return {};
  const known = Schema.Struct(
    Object.fromEntries(fields.map(([name, parameter]) => [name, fieldOf(parameter)])),
  );
  const object = (requiresOneOf.length === 0 ? known : known.check(oneOf(requiresOneOf))).annotate({
    identifier: typeName(route, "Body"),
  });
  const body = listItem === undefined ? object : Schema.Union([object, Schema.Array(listItem)]);
  const content = {
    "application/json": { schema: components.schema(body), example: route.example },
    ...(csvBody !== undefined && { "text/csv": { schema: { type: "string" } } }),
  };
  return { requestBody: { required: fields.some(([, field]) => isRequired(field)), content } };
};

/** At least one of these fields is sent. */
const oneOf = (names: ReadonlyArray<string>) =>
  Schema.makeFilter(() => true, {
    toJsonSchema: () => ({ anyOf: names.map((name) => ({ required: [name] })) }),
  });

/** The description of a route, including the keys that may use it. */
const descriptionOf = (route: Route): string => {
  const { description = "", access, role = "owner" } = route;
  const accesses = accessesOf(route);
  const keys = `keys with access ${accesses.map((each) => `\`${each}\``).join(" or ")}.`;
  if (access === "session") {
    const members = `For ${memberTexts[role]} who is signed in to the dashboard`;
    return accesses.length === 0 ? `${members}.` : `${members}, and for ${keys}`;
  }
  return accesses.length === 0 ? description : `${description && `${description} `}For ${keys}`;
};

const memberTexts = {
  admin_of_all: "an owner or an admin of the whole account",
  owner: "an owner",
  owner_or_self: "an owner, or the member themself,",
  admin: "an owner or admin",
  moderator: "a member of the account",
} as const;

export const operationOf = (components: Components, route: Route): Operation => ({
  operationId: route.id,
  tags: [tagOf(route)],
  summary: route.summary,
  description: descriptionOf(route),
  parameters: [...parametersOf(components, route), ...requestHeadersOf(components, route)],
  ...bodyOf(components, route),
  ...securityOf(route),
  responses: responsesOf(components, route),
  ...(route.generation === "v1" ? { "x-reasons": [...route.reasons] } : {}),
});

const schemeNames = {
  "authorization Bearer": "apiKey",
  "authorization Bot": "botKey",
  authorization: "bareKey",
  "api-key": "headerKey",
} as const;

export const schemeName = ({ header, scheme }: Credential): string =>
  schemeNames[(scheme === null ? header : `${header} ${scheme}`) as keyof typeof schemeNames];

/** Describes a header that carries an API key without the scheme `Bearer`. */
export const schemeOf = ({ header, scheme }: Credential): Readonly<Record<string, string>> => ({
  type: "apiKey",
  in: "header",
  name: header === "authorization" ? "Authorization" : header,
  description: scheme === null ? "An API key, `alk_…`" : `\`${scheme}\` and an API key, \`alk_…\``,
});

export const dashboardSession = {
  type: "apiKey",
  in: "cookie",
  name: "accountlink_session",
  description: "The cookie of an owner who signed in at `/dashboard/sign-in`",
};

/** The security of an operation; without one, the default of the document applies, which is an API key. */
const securityOf = (route: Route): Pick<Operation, "security"> => {
  if (route.access === "session") {
    return {
      security: [{ dashboardSession: [] }, ...(accessesOf(route).length > 0 ? [{ apiKey: [] }] : [])],
    };
  }
  if (!takesKey(route)) return { security: [] };
  if (route.access === "key_or_redirect") return { security: [{ apiKey: [] }, {}] };
  if (route.service === undefined) return {};
  return { security: route.service.credentials.map((credential) => ({ [schemeName(credential)]: [] })) };
};

export const tags = [
  { name: "Links", description: "Lookups of links" },
  {
    name: "Alts",
    description: "Accounts that may belong to the same person, and reviews by moderators",
  },
  { name: "Writes", description: "Setting, moving and removing links" },
  { name: "Keys", description: "Reports of leaked API keys" },
  { name: "Sessions", description: "Verification sessions, in which a user links both accounts" },
  { name: "Webhooks", description: "Events that the service sends to URLs of owners" },
  {
    name: "Dashboard",
    description:
      "The JSON of the dashboard. `$ACCOUNTLINK_MANAGE_KEY` is a key with access `manage`; operations that take no key need the " +
      "cookie of a sign-in, as `$ACCOUNTLINK_SESSION`, and to write `$CSRF_TOKEN`, the `csrfToken` of the operation `getSignIn`",
  },
  {
    name: "v1",
    description:
      "The first generation, which remains available; `x-reasons` names its refusals' examples and schemas",
  },
  {
    name: "Compatible",
    description:
      "The interfaces of Bloxlink, RoVer and RoWifi: a bot for one of them only changes its base URL and key",
  },
] as const;

type Tag = (typeof tags)[number]["name"];

const tagsByGroup: Readonly<Record<NonNullable<Route["group"]>, Tag>> = {
  lookup: "Links",
  bulk: "Links",
  alts: "Alts",
  write: "Writes",
  session: "Sessions",
};

const tagOf = ({ access, generation, group, path }: Route): Tag => {
  if (generation === "v1") return "v1";
  if (generation === "compat") return "Compatible";
  if (access === "session") return "Dashboard";
  if (group !== null) return tagsByGroup[group];
  return path.startsWith("/v2/keys") ? "Keys" : "Sessions";
};
