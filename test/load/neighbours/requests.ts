/** The routes of the service, from the tables of the API and of the pages, and the attacker's requests to them. */
import { HttpSettings, Readiness } from "@accountlink/http";
import { compatRoutes, dashboardRoutes, type Route, routes } from "@accountlink/http-api";
import { makePages } from "@accountlink/pages";
import { ChatSettings } from "@accountlink/pages/chat";
import { MemoryWorld } from "@accountlink/testing";
import { Effect, Layer } from "effect";
import { chatKey, signed } from "../../support/chat.ts";
import type { RouteRow } from "./row.ts";
import type { Attacker, Site } from "./world.ts";

export interface HttpAttack {
  readonly line: `${string} ${string}`;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

const apiRoutes: ReadonlyArray<Route> = [...routes, ...compatRoutes, ...dashboardRoutes];
const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
const apiByName = new Map(apiRoutes.map((route) => [nameOf(route), route]));

const settings = { publicUrl: "https://links.example", trustedProxies: [], withoutAddresses: true };

const pageRoutes = Effect.map(
  makePages(() => {
    throw new Error("Cannot look up links: the pages only list their routes");
  }),
  (pages) => pages.routes,
).pipe(
  Effect.scoped,
  Effect.provide(
    Layer.mergeAll(
      Readiness.layerStorage,
      Layer.succeed(HttpSettings, settings),
      Layer.effect(
        ChatSettings,
        Effect.map(ChatSettings, (usual) => ({ ...usual, publicKey: chatKey })),
      ),
    ).pipe(Layer.provideMerge(MemoryWorld.layer())),
  ),
);

/** Returns the name of each route of the service, such as `GET /v2/chat`. */
export const listRoutes = async (): Promise<ReadonlyArray<string>> => {
  const pages = await Effect.runPromise(pageRoutes);
  return [...new Set([...apiRoutes.map(nameOf), ...pages.map(nameOf)])];
};

const isKeyed = (route: Route | undefined): route is Route =>
  route?.access === "key" || route?.access === "key_or_redirect";

/** The header that carries a key; APIs of other services have their own. */
const keyHeader = ({ service }: Route, key: string): Readonly<Record<string, string>> => {
  const { header, scheme } = service?.credentials[0] ?? { header: "authorization", scheme: "Bearer" };
  return { [header]: scheme === null ? key : `${scheme} ${key}` };
};

let taken = 0;

/** Makes the requests that a row describes, of which the attacker sends one after another. */
export const requestsOf = (name: string, row: RouteRow, attacker: Attacker): ReadonlyArray<HttpAttack> => {
  if (row.site === "whole") {
    return attacker.wholes.map(({ headers, csrf }) =>
      requestOf(name, row, {
        ...attacker,
        headers: { ...attacker.headers, whole: headers },
        csrf: { ...attacker.csrf, whole: csrf },
      }),
    );
  }
  if (row.key === "spare") taken++;
  const [again, values] = row.again ?? [];
  const { file: _, ...rest } = row;
  return [
    requestOf(name, row, attacker),
    ...(again === undefined ? [] : [requestOf(again, { ...rest, ...(values && { values }) }, attacker)]),
  ];
};

const keyOf = ({ key = "attacker" }: RouteRow, { keys, spares }: Attacker): string =>
  key === "spare" ? (spares[taken % spares.length] ?? "") : keys[key];

const siteOf = (template: string): Site => (template.startsWith("/me") ? "user" : "owner");

const requestOf = (name: string, row: RouteRow, attacker: Attacker): HttpAttack => {
  const [method = "", template = ""] = name.split(/,? /);
  const given = typeof row.values === "function" ? row.values(attacker) : (row.values ?? {});
  const path = template.replaceAll(/:(\w+)/g, (_, parameter: string) => String(given[parameter]));
  const values = Object.entries(given).filter(([parameter]) => !template.includes(`:${parameter}`));
  const api = apiByName.get(`${method} ${template}`);
  const site = row.site ?? siteOf(template);
  const headers = isKeyed(api) ? keyHeader(api, keyOf(row, attacker)) : attacker.headers[site];
  if (method === "GET" || api?.source === "query") {
    const search = encoded(values);
    return { line: `${method} ${path}${search === "" ? "" : `?${search}`}`, headers, body: "" };
  }
  const { body, ...sent } = bodyOf(row, attacker, site, api, values);
  return { line: `${method} ${path}`, headers: { ...headers, ...sent.headers }, body };
};

const bodyOf = (
  { signed: interaction, list, file }: RouteRow,
  attacker: Attacker,
  site: Site,
  api: Route | undefined,
  values: Values,
) => {
  if (interaction !== undefined) {
    const body = JSON.stringify(interaction);
    return { headers: signed(body), body };
  }
  const { type, body } =
    api === undefined
      ? (file?.(attacker) ?? formOf([["csrf", attacker.csrf[site]], ...values]))
      : { type: "application/json", body: JSON.stringify(list ?? Object.fromEntries(values)) };
  return { headers: { "content-type": type }, body };
};

type Values = ReadonlyArray<readonly [name: string, value: unknown]>;

const encoded = (values: Values): string =>
  new URLSearchParams(Object.fromEntries(values.map(([name, value]) => [name, String(value)]))).toString();

const formOf = (values: Values) => ({
  type: "application/x-www-form-urlencoded",
  // A row may send a wrong token.
  body: encoded(values),
});
