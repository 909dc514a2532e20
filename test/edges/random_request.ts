/** Random requests similar to real ones: mostly valid, with every kind of error that HTTP can carry. */
import { compatRoutes, routes as ownRoutes, type Route } from "@accountlink/http-api";
import * as fc from "fast-check";
import {
  botlessGuild,
  emptyGuild,
  guild,
  makeFixtures,
  newToken,
  nobody,
  stranger,
} from "../support/fixtures.ts";
import type { RequestOptions } from "../support/http.ts";

const routes = [...ownRoutes, ...compatRoutes];

export interface RandomRequest {
  readonly line: `${string} ${string}`;
  readonly options: RequestOptions;
}

type Weighted<Value> = readonly [weight: number, arbitrary: fc.Arbitrary<Value>];

const weighted = <Value>(...choices: ReadonlyArray<Weighted<Value>>): fc.Arbitrary<Value> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const rarely = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  weighted<Value | undefined>([9, fc.constant(undefined)], [1, value]);

const mostly = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  weighted<Value | undefined>([12, value], [1, fc.constant(undefined)]);

/** Leaves out undefined values. */
const present = <Value>(record: Readonly<Record<string, Value | undefined>>): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** A fixture with links for the IDs below and a key for each tier and kind of scope. */
export const linkedWorld = () => {
  const fixtures = makeFixtures();
  const links = { 100001: "1", 100002: "2", 100003: "2" };
  const keys = [
    fixtures.key({ links }),
    fixtures.key({ links, tier: "premium" }),
    fixtures.key({ links, guildId: guild }),
    fixtures.key({ links, guildId: guild, tier: "premium" }),
  ];
  return { fixture: fixtures.fixture, keys };
};

const chatId = fc.constantFrom("100001", "100002", "100003", "100004", stranger);
const gameId = fc.constantFrom("1", "2", "3", "9", nobody);

const oddText = weighted(
  [1, fc.string({ unit: "binary", maxLength: 20 })],
  [1, fc.stringMatching(/^\d{1,40}$/)],
  [
    1,
    fc.constantFrom(
      "",
      " ",
      "\0",
      "\ud800",
      "null",
      "-1",
      "1e999",
      "../..",
      "'; DROP TABLE links; --",
      "__proto__",
      "constructor",
      "🔗",
      "100001\n",
      "x".repeat(3_000),
    ),
  ],
);

/** Valid values by parameter name. */
const fitting: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  discordId: chatId,
  robloxId: gameId,
  chatId,
  oldChatId: chatId,
  newChatId: chatId,
  otherChatId: chatId,
  ip: fc.oneof(fc.ipV4(), fc.ipV6()),
  verdict: fc.constantFrom("same", "different"),
  note: fc.string({ unit: "binary", maxLength: 510 }),
  explain: fc.boolean(),
  gameId,
  newGameId: gameId,
  guildId: weighted([6, fc.constant(guild)], [1, fc.constantFrom(emptyGuild, botlessGuild)]),
  chatIds: fc.array(weighted([6, chatId], [1, oddText]), { maxLength: 55 }),
  gameIds: fc.array(weighted([6, gameId], [1, oddText]), { maxLength: 55 }),
  resolved: fc.boolean(),
  confirm: fc.boolean(),
  key: fc.constant(null).map(newToken),
  clientId: weighted([2, fc.constant("client")], [1, fc.string({ unit: "binary", maxLength: 140 })]),
  redirect: weighted([1, fc.constant("")], [1, fc.webUrl()]),
  wait: fc.constantFrom("0", "1", "25", "26", "-1", "1.5"),
};

/** Session IDs for a path; none of them exists. */
const sid = fc.constantFrom(`vs_${"0".repeat(43)}`, "vs_", "%00", "%F0%9F%94%97", "x".repeat(3_000), "..");

/** A route's path with random values in place of its parameters. */
const filledPath = ({ path }: Route): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...path.split("/").map((part) => {
        if (!part.startsWith(":")) return fc.constant(part);
        const value = fitting[part.slice(1)] ?? sid;
        return weighted<unknown>([8, value], [1, sid]);
      }),
    )
    .map((parts) => parts.join("/"));

const oddValue = weighted<unknown>(
  [3, oddText],
  [2, fc.constantFrom(true, false, null, 0, -1, 1e308, {}, [], [[]], [null])],
  [1, fc.jsonValue({ maxDepth: 3 })],
);

const valuesOf = ({ parameters }: Route): fc.Arbitrary<Record<string, unknown>> => {
  const named = Object.keys(parameters).map((name) => {
    const value = weighted<unknown>([8, fitting[name] ?? oddText], [1, oddValue]);
    return [name, name === "guildId" ? fc.option(value, { nil: undefined }) : mostly(value)] as const;
  });
  const others = rarely(fc.dictionary(oddText, oddValue, { maxKeys: 3 }));
  return fc
    .tuple(fc.record(Object.fromEntries(named)), others)
    .map(([values, more]) => present({ ...values, ...more }));
};

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());
const oddPart = weighted([2, oddText.map(encoded)], [1, fc.stringMatching(/^[!-~]{0,12}$/)]);

const queryOf = (route: Route): fc.Arbitrary<string> =>
  fc
    .tuple(valuesOf(route), rarely(fc.constantFrom(...Object.keys(route.parameters))), rarely(oddPart))
    .map(([values, twice, odd]) => {
      const pairs = Object.entries(values).map(
        ([name, value]) =>
          `${encoded(name)}=${encoded(typeof value === "string" ? value : JSON.stringify(value))}`,
      );
      return [
        ...pairs,
        ...(twice === undefined ? [] : [`${twice}=1`]),
        ...(odd === undefined ? [] : [odd]),
      ].join("&");
    });

type Body = string | Uint8Array;

const oddBody = weighted<Body>(
  [2, fc.json()],
  [1, fc.uint8Array({ maxLength: 200 })],
  [
    2,
    fc.constantFrom(
      "",
      "[".repeat(60_000),
      '{"a":'.repeat(10_000),
      '{"chatId":1e999999}',
      '{"chatId":"100001","chatId":"x"}',
      '{"__proto__":{"chatId":"100001"},"constructor":{"prototype":1}}',
      '\ufeff{"chatId":"100001"}',
      `{"pad":"${"x".repeat(70_000)}"}`,
      '{"chatId":"\\ud800","key":"\\u0000"}',
    ),
  ],
);

const bodyOf = (route: Route): fc.Arbitrary<Body | undefined> => {
  const json = valuesOf(route).map((values) => JSON.stringify(values));
  return weighted<Body | undefined>(
    [16, json],
    [1, fc.tuple(json, fc.nat(60)).map(([text, length]) => text.slice(0, length))],
    [2, oddBody],
    [1, fc.constant(undefined)],
  );
};

const headerText = fc
  .array(
    fc.integer({ min: 0x21, max: 0xff }).filter((code) => code !== 0x7f),
    { minLength: 1, maxLength: 30 },
  )
  .map((codes) => String.fromCharCode(...codes));

const address = weighted(
  [2, fc.ipV4()],
  [2, fc.ipV6()],
  [1, headerText],
  [1, fc.constantFrom("127.0.0.1", "unknown", ",,,", "::ffff:1.2.3.4")],
);

const headersWith = (keys: ReadonlyArray<string>): fc.Arbitrary<Record<string, string>> => {
  const key = fc.constantFrom(...keys);
  const wrongAuthorization = weighted(
    [1, key.map((token) => `Bearer ${token.slice(0, -1)}`)],
    [1, fc.constant(null).map(() => `Bearer ${newToken()}`)],
    [1, headerText],
  );
  const otherType = fc.constantFrom(
    "text/plain",
    "application/json; charset=utf-16",
    "application/json;",
    ";",
  );
  const odd = fc.record({
    accept: rarely(headerText),
    "accept-encoding": rarely(fc.constantFrom("gzip", "br", "identity;q=0", "*")),
    "content-encoding": rarely(fc.constantFrom("gzip", "deflate", "br", "x")),
    // `/`, `?` and `#` in a Host header would change the path that the server parses, and it would not find an
    // operator path. So they are replaced.
    host: rarely(headerText.map((text) => text.replaceAll(/[/?#]/g, "-"))),
    origin: rarely(headerText),
    "if-none-match": rarely(fc.constant("*")),
    range: rarely(fc.constant("bytes=0-1")),
    traceparent: rarely(headerText),
    b3: rarely(headerText),
    "x-http-method-override": rarely(fc.constant("DELETE")),
    "x-request-id": rarely(headerText),
    "service-version": rarely(weighted([2, fc.constant("2026-01-01")], [1, headerText])),
    "x-forwarded-for": rarely(
      fc.array(address, { minLength: 1, maxLength: 4 }).map((hops) => hops.join(", ")),
    ),
  });
  return fc
    .record({
      authorization: weighted<string | undefined>(
        [14, key.map((token) => `Bearer ${token}`)],
        [1, key],
        [1, key.map((token) => `Bot ${token}`)],
        [2, wrongAuthorization],
        [1, fc.constant(undefined)],
      ),
      "content-type": weighted<string | undefined>(
        [14, fc.constant("application/json")],
        [1, otherType],
        [1, headerText],
        [1, fc.constant(undefined)],
      ),
      "api-key": rarely(key),
      odd,
    })
    .map(({ odd: others, ...usual }) => present({ ...usual, ...others }));
};

const systemPaths: ReadonlyArray<string> = ["/healthz", "/readyz", "/metrics", "/openapi.json"];

const anyPath = fc.constantFrom(...routes.map(({ path }): string => path), ...systemPaths);

const oddPath = weighted(
  [4, anyPath],
  [1, fc.tuple(anyPath, oddPart).map(([path, more]) => `${path}/${more}`)],
  [1, fc.tuple(anyPath, fc.nat(20)).map(([path, at]) => `${path.slice(0, at)}/${path.slice(at)}`)],
  [1, fc.tuple(anyPath, fc.nat(20)).map(([path, at]) => `/${path.slice(1, at)}%${path.slice(at)}`)],
  [1, fc.array(oddPart, { maxLength: 4 }).map((parts) => `/${parts.join("/")}`)],
  [
    1,
    fc.constantFrom("/v2", "/v2/", "/api/v1", "/api/v1/", "/v2/chat;a", "/v2/%63hat", "/V2/CHAT", "*", "//"),
  ],
);

const anyMethod = fc.constantFrom(
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "PURGE",
);

interface Target {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: Body | undefined;
}

const targetOf = (route: Route): fc.Arbitrary<Target> =>
  fc.record({
    method: fc.constant(route.method),
    path: filledPath(route),
    query: route.source === "query" ? queryOf(route) : fc.constant(""),
    body: route.source === "body" ? bodyOf(route) : rarely(oddBody),
  });

const rightTarget = fc.constantFrom(...routes).chain(targetOf);

const oddTarget: fc.Arbitrary<Target> = fc.record({
  method: anyMethod,
  path: oddPath,
  query: weighted([1, fc.constant("")], [1, oddPart]),
  body: rarely(oddBody),
});

const requestTo = (target: fc.Arbitrary<Target>, keys: ReadonlyArray<string>): fc.Arbitrary<RandomRequest> =>
  fc.tuple(target, headersWith(keys)).map(([{ method, path, query, body }, headers]) => ({
    line: `${method} ${path}${query === "" ? "" : `?${query}`}`,
    // HTTP allows no body in a TRACE request.
    options: { headers, ...(body === undefined || method === "TRACE" ? {} : { body }) },
  }));

/** @param keys API keys that the server accepts */
export const randomRequest = (keys: ReadonlyArray<string>): fc.Arbitrary<RandomRequest> =>
  requestTo(weighted([4, rightTarget], [1, oddTarget]), keys);
