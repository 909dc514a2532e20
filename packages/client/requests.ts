import type { RouteId } from "./contract.ts";
import { AccountLinkError } from "./errors.ts";
import type { ClientOptions } from "./options.ts";
import { routes, serviceVersion } from "./routes.ts";

export interface Parameters {
  readonly [name: string]: unknown;
}

export interface Outgoing {
  readonly route: RouteId;
  readonly parameters: Parameters;
  readonly headers: Readonly<Record<string, string>>;
}

/** Refuses IDs that are not strings, because numbers lose digits, and an idempotency key that the service refuses. */
export const checkValues = ({ route, parameters, headers }: Outgoing): void => {
  if (!/^[!-~]{1,255}$/.test(headers["idempotency-key"] ?? "-"))
    throw invalid(route, "Idempotency-Key", "expected 1 to 255 visible ASCII characters");
  for (const [name, value] of Object.entries(parameters)) {
    if (!/ids?$/i.test(name)) continue;
    const wrong = [value].flat().find((id) => typeof (id ?? "") !== "string");
    if (wrong !== undefined) throw invalid(route, name, `is of type ${typeof wrong}, expected a string`);
  }
};

const invalid = (route: RouteId, name: string, reason: string): AccountLinkError =>
  new AccountLinkError({
    code: "INVALID_PARAMETER",
    message: `Invalid parameter: ${name} (${reason})`,
    details: { parameters: [{ name, reason }] },
    route,
    status: null,
    requestId: null,
    retryAfter: null,
  });

export const makeUrls = (options: Pick<ClientOptions, "url">) => {
  const url = String(options.url);
  // Only a web page can fetch a path. Elsewhere, the error of `fetch` would not name this option. In Deno, `location`
  // exists but is undefined.
  const hasPage = (globalThis as { readonly location?: unknown }).location !== undefined;
  if (!(hasPage ? /^(https?:\/\/|\/|$)/ : /^https?:\/\//).test(url))
    throw new TypeError(`Cannot create a client: the url is "${url}", expected https://… or http://…`);
  const base = url.replace(/\/+$/, "");
  return (route: RouteId, parameters: Parameters): string =>
    base +
    routes[route].path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(parameters[name])));
};

export const makeRequests = ({ url, key }: Pick<ClientOptions, "url" | "key">) => {
  // Check the key here, because the error of `fetch` for an invalid header would show the key.
  if (key !== undefined && !/^[!-~]+$/.test(key ?? ""))
    throw new TypeError("Cannot create a client: the key is empty or has characters that no key has");
  const urlOf = makeUrls({ url });
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };

  return ({ route, parameters, headers }: Outgoing, signal: AbortSignal): Request => {
    const { method, path } = routes[route];
    const sent = Object.entries(parameters).filter(([name]) => !path.includes(`:${name}`));
    const isBody = method !== "GET" && sent.length > 0;
    return new Request(urlOf(route, parameters) + (method === "GET" ? queryOf(sent) : ""), {
      method,
      headers: {
        "service-version": serviceVersion,
        ...authorization,
        ...(isBody ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      ...(isBody ? { body: JSON.stringify(Object.fromEntries(sent), nullForUndefined) } : {}),
      // Do not follow redirects: the service redirects only browsers, so the client treats a redirect as an error.
      redirect: "manual",
      signal,
    });
  };
};

const queryOf = (sent: ReadonlyArray<readonly [name: string, value: unknown]>): string => {
  const given = sent.filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return query === "" ? "" : `?${query}`;
};

/**
 * Replaces undefined by null, because JSON omits undefined values. Without its `guildId`, a deletion with a
 * global key would delete the whole scope. The service refuses a deletion whose `guildId` is null.
 */
const nullForUndefined = (_name: string, value: unknown): unknown => (value === undefined ? null : value);
