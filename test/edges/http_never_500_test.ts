/**
 * Random requests, mostly valid, with every kind of error that HTTP can carry. Every answer has the format of its API,
 * and never a 5xx status.
 */
import { compatRoutes, routes as ownRoutes, type Route } from "@accountlink/http-api";
import { characterOf, characters, isProof } from "@accountlink/test-servers";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { envelopeProblems } from "../contract/envelope.ts";
import * as Fixtures from "../support/fixtures.ts";
import type { Answer, RequestOptions } from "../support/http.ts";
import { useServer } from "../support/server.ts";

/** Few concurrent requests, so that the platforms answer in time on a busy machine. */
const atOnce = 10;

const requests = isProof ? 20_000 : 500;

const { botlessGuild, emptyGuild, guild, newToken, nobody, stranger } = Fixtures;
const fixtures = Fixtures.makeFixtures();
const links = { 100001: "1", 100002: "2", 100003: "2" };
const keys = [{}, { tier: "premium" }, { guildId: guild }, { guildId: guild, tier: "premium" }].map(
  (options) => fixtures.key({ links, ...options } as Parameters<typeof fixtures.key>[0]),
);
const { send, output } = useServer(() => ({ fixture: fixtures.fixture }));

const routes = [...ownRoutes, ...compatRoutes];

/** Draws the first arbitrary nine times out of ten. */
const mostly = <A, B>(usual: fc.Arbitrary<A>, odd: fc.Arbitrary<B>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });
const nothing = fc.constant(undefined);
const rarely = <A>(value: fc.Arbitrary<A>) => mostly(nothing, value);

const present = <A>(record: Readonly<Record<string, A | undefined>>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Record<string, A>;

const chatId = fc.constantFrom("100001", "100002", "100003", "100004", stranger);
const gameId = fc.constantFrom("1", "2", "3", "9", nobody);
const token = nothing.map(newToken);

const anyCharacter = fc.integer(characters).map(characterOf);
const oddText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.stringMatching(/^\d{1,40}$/),
  fc.constantFrom("", " ", "\0", "\ud800", "null", "-1", "1e999", "../..", "'; DROP TABLE links; --"),
  fc.constantFrom("__proto__", "constructor", "🔗", "100001\n", "x".repeat(3_000)),
);
const oddValue = fc.oneof(
  oddText,
  fc.constantFrom(true, false, null, 0, -1, 1e308, {}, [], [[]], [null]),
  fc.jsonValue({ maxDepth: 3 }),
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
  note: fc.string({ unit: anyCharacter, maxLength: 510 }),
  explain: fc.boolean(),
  gameId,
  newGameId: gameId,
  guildId: mostly(fc.constantFrom(guild, undefined), fc.constantFrom(emptyGuild, botlessGuild)),
  chatIds: fc.array(mostly(chatId, oddText), { maxLength: 55 }),
  gameIds: fc.array(mostly(gameId, oddText), { maxLength: 55 }),
  resolved: fc.boolean(),
  confirm: fc.boolean(),
  key: token,
  clientId: mostly(fc.constant("client"), fc.string({ unit: anyCharacter, maxLength: 140 })),
  redirect: fc.oneof(fc.constant(""), fc.webUrl()),
  wait: fc.constantFrom("0", "1", "25", "26", "-1", "1.5"),
};

/** Session IDs for a path; none of them exists. */
const sid = fc.constantFrom(`vs_${"0".repeat(43)}`, "vs_", "%00", "%F0%9F%94%97", "x".repeat(3_000), "..");

/** A route's path with random values in place of its parameters. */
const filledPath = ({ path }: Route) => {
  const partOf = (part: string) =>
    part.startsWith(":") ? mostly(fitting[part.slice(1)] ?? sid, sid) : fc.constant<unknown>(part);
  return fc.tuple(...path.split("/").map(partOf)).map((parts) => parts.join("/"));
};

const valuesOf = ({ parameters }: Route): fc.Arbitrary<Record<string, unknown>> => {
  const valueOf = (name: string) => mostly(mostly(fitting[name] ?? oddText, oddValue), nothing);
  const named = Object.fromEntries(Object.keys(parameters).map((name) => [name, valueOf(name)]));
  const others = rarely(fc.dictionary(oddText, oddValue, { maxKeys: 3 }));
  return fc.tuple(fc.record(named), others).map(([values, more]) => present({ ...values, ...more }));
};

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());
const oddPart = fc.oneof(oddText.map(encoded), fc.stringMatching(/^[!-~]{0,12}$/));

const queryOf = (route: Route): fc.Arbitrary<string> =>
  fc
    .tuple(valuesOf(route), rarely(fc.constantFrom(...Object.keys(route.parameters))), rarely(oddPart))
    .map(([values, twice, odd]) => {
      const pairs = Object.entries(values).map(
        ([name, value]) =>
          `${encoded(name)}=${encoded(typeof value === "string" ? value : JSON.stringify(value))}`,
      );
      return [...pairs, twice && `${twice}=1`, odd].filter(Boolean).join("&");
    });

const oddBody = fc.oneof(
  fc.json(),
  fc.uint8Array({ maxLength: 200 }),
  fc.constantFrom("", "[".repeat(60_000), '{"a":'.repeat(10_000), `{"pad":"${"x".repeat(70_000)}"}`),
  fc.constantFrom(
    '{"chatId":1e999999}',
    '{"chatId":"100001","chatId":"x"}',
    '{"__proto__":{"chatId":"100001"},"constructor":{"prototype":1}}',
    '\ufeff{"chatId":"100001"}',
    '{"chatId":"\\ud800","key":"\\u0000"}',
  ),
);

const bodyOf = (route: Route) => {
  const json = valuesOf(route).map((values) => JSON.stringify(values));
  const cut = fc.tuple(json, fc.nat(60)).map(([text, length]) => text.slice(0, length));
  return mostly(mostly(json, cut), mostly(oddBody, nothing));
};

const headerText = fc
  .array(
    fc.integer({ min: 0x21, max: 0xff }).filter((code) => code !== 0x7f),
    { minLength: 1, maxLength: 30 },
  )
  .map((codes) => String.fromCharCode(...codes));

const oddAddress = fc.constantFrom("127.0.0.1", "unknown", ",,,", "::ffff:1.2.3.4");
const address = fc.oneof(fc.ipV4(), fc.ipV6(), headerText, oddAddress);
const hops = fc.array(address, { minLength: 1, maxLength: 4 }).map((all) => all.join(", "));

const key = fc.constantFrom(...keys);
const bearer = (each: string) => `Bearer ${each}`;
const almost = key.map((each) => bearer(each.slice(0, -1)));
const bot = key.map((each) => `Bot ${each}`);
const oddAuthorization = fc.oneof(key, bot, almost, token.map(bearer), headerText, nothing);
const oddType = fc.constantFrom(
  "text/plain",
  "application/json; charset=utf-16",
  "application/json;",
  ";",
  undefined,
);
const headers = fc
  .record({
    authorization: mostly(key.map(bearer), oddAuthorization),
    "content-type": mostly(fc.constant("application/json"), fc.oneof(oddType, headerText)),
    "api-key": rarely(key),
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
    "service-version": rarely(fc.oneof(fc.constant("2026-01-01"), headerText)),
    "x-forwarded-for": rarely(hops),
  })
  .map(present<string>);

const systemPaths = ["/healthz", "/readyz", "/metrics", "/openapi.json"];
const anyPath = fc.constantFrom(...routes.map(({ path }): string => path), ...systemPaths);
const cutPath = fc.tuple(anyPath, fc.nat(20));
const oddPath = fc.oneof(
  anyPath,
  fc.tuple(anyPath, oddPart).map(([path, more]) => `${path}/${more}`),
  cutPath.map(([path, at]) => `${path.slice(0, at)}/${path.slice(at)}`),
  cutPath.map(([path, at]) => `/${path.slice(1, at)}%${path.slice(at)}`),
  fc.array(oddPart, { maxLength: 4 }).map((parts) => `/${parts.join("/")}`),
  fc.constantFrom("/v2", "/v2/", "/api/v1", "/api/v1/", "/v2/chat;a", "/v2/%63hat", "/V2/CHAT", "*", "//"),
);
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "PURGE"];

const rightTarget = fc.constantFrom(...routes).chain((route) =>
  fc.record({
    method: fc.constant<string>(route.method),
    path: filledPath(route),
    query: route.source === "query" ? queryOf(route) : fc.constant(""),
    body: route.source === "body" ? bodyOf(route) : rarely(oddBody),
  }),
);
const oddTarget = fc.record({
  method: fc.constantFrom(...methods),
  path: oddPath,
  query: fc.oneof(fc.constant(""), oddPart),
  body: rarely(oddBody),
});
const randomRequest = fc
  .tuple(fc.oneof({ weight: 4, arbitrary: rightTarget }, { weight: 1, arbitrary: oddTarget }), headers)
  .map(([{ method, path, query, body }, sent]) => {
    // HTTP allows no body in a TRACE request.
    const options: RequestOptions = body === undefined || method === "TRACE" ? {} : { body };
    return [`${method} ${path}${query === "" ? "" : `?${query}`}`, { headers: sent, ...options }] as const;
  });

const problemsOf = (line: string, answer: Answer): ReadonlyArray<string> => [
  ...(answer.status < 500 ? [] : [`${answer.status} is a failure of the server`]),
  ...(answer.headers["x-request-id"] === undefined ? ["X-Request-Id is missing"] : []),
  ...envelopeProblems(line, answer),
];

test(`${requests} random requests get an answer in the envelope below 500`, async () => {
  const counts = new Map<number, number>();
  const batch = fc.array(randomRequest, { minLength: atOnce, maxLength: atOnce });
  await fc.assert(
    fc.asyncProperty(batch, async (drawn) => {
      await Promise.all(
        drawn.map(async ([line, options]) => {
          const answer = await send(line, options);
          counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
          const problems = problemsOf(line, answer);
          if (problems.length > 0)
            throw new Error(`${line} was answered ${answer.status} ${answer.text}: ${problems.join("; ")}`);
        }),
      );
    }),
    { numRuns: requests / atOnce, endOnFailure: true },
  );
  const sorted = [...counts].toSorted(([one], [other]) => one - other);
  console.log(`No request failed: ${sorted.map(([status, count]) => `${status} × ${count}`).join(", ")}`);
  expect(sorted.reduce((total, [, count]) => total + count, 0)).toBe(requests);
  expect(counts.get(200)).toBeGreaterThan(requests / 50);
  expect(output()).not.toContain("Request failed");
});
