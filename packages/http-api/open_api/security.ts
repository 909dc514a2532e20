import type { Credential } from "../other_service.ts";
import { type Route, takesKey } from "../route.ts";
import type { Operation } from "./document.ts";

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

/**
 * Returns the security of an operation. An operation without its own `security` requires an API key, which is the
 * default of the document.
 */
export const securityOf = (route: Route): Pick<Operation, "security"> => {
  if (route.access === "session") return { security: [{ dashboardSession: [] }] };
  if (!takesKey(route)) return { security: [] };
  if (route.access === "key_or_redirect") return { security: [{ apiKey: [] }, {}] };
  if (route.service === undefined) return {};
  return { security: route.service.credentials.map((credential) => ({ [schemeName(credential)]: [] })) };
};
