/** Tests the paths and methods of routes, pages and operator endpoints, and the answers to unknown paths. */
import { groupBy } from "@accountlink/core/group_by";
import { compatRoutes, dashboardRoutes, routes as ownRoutes, takesHead } from "@accountlink/http-api";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import type { Json } from "../support/http.ts";
import { isWebHandler } from "../support/server.ts";
import { expectRefusal, expectUnknown, expectV1Refusal, useContractServer } from "./contract_server.ts";

const routes = [...ownRoutes, ...compatRoutes, ...dashboardRoutes];
const { fixtures, send, url } = useContractServer();
const key = fixtures.key({ links: { 100001: "1" } });
const systemPaths = ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/style.css"];
const methodsByPath = groupBy(
  [...routes, ...systemPaths.map((path) => ({ method: "GET", path }))],
  ({ path }) => path,
);

/** Returns the methods that the `Allow` header of a path must list. */
const allowed = (path: string) => {
  const sharing = methodsByPath.get(path) ?? [];
  const heads = sharing.filter(
    (route) => route.method === "GET" && (!("parameters" in route) || takesHead(route)),
  );
  return [...sharing.map(({ method }) => method), ...heads.map(() => "HEAD"), "OPTIONS"].toSorted();
};
const allowOf = (allow: string | undefined) => allow?.split(", ").toSorted();

test.each(["/v2", "/v2/chat/", "/v2//chat", "//v2/chat", "/V2/chat", "/v2/../v2/chat/x"])(
  "an unknown path is answered in the v2 envelope: %s",
  async (path) => {
    for (const method of ["GET", "POST", "OPTIONS", "PURGE"]) {
      const answer = await send(`${method} ${path}`, { key });
      expectUnknown(answer);
      expect(answer.body.error?.message).toBe("Not found");
    }
  },
);

test.each(["/api/v1?x=1", "/api/v%31/nope", "/api/v1/public/chat-to-game/", "/api/v1/Link/update-chat"])(
  "an unknown path is answered in the v1 envelope: %s",
  async (path) => {
    for (const method of ["GET", "PUT", "OPTIONS"]) {
      expectV1Refusal(await send(`${method} ${path}`, { key }), 404, "Not found");
    }
  },
);

const unknown = ["/api/v2/chat", "/healthz/", "/v21", "/nope/", "/verify//", "/verify/nope/"];
const slashed = [
  "/dashboard/api/session/",
  "/dashboard/%61pi/session/",
  "/openapi.json/",
  ...(isWebHandler ? [] : ["*"]),
];

test.each([...unknown, ...slashed])("an unknown path is answered 404: %s", async (path) => {
  expect((await send(`GET ${path}`, { key })).status).toBe(404);
});

test.each([
  ["/Go", "text/html; charset=utf-8"],
  ["/verified", "text/html; charset=utf-8"],
  ["/v2/nope", "application/json"],
  ["/V2/chat", "application/json"],
  ["//v2/chat", "application/json"],
  ["/api/v1/nope", "application/json"],
  ["/compat/nope", "application/json"],
  ["/dashboard/%61pi/nope", "application/json"],
])("an unknown path outside the interfaces is a page for browsers: %s", async (path, type) => {
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  const { status, headers, text } = await send(`GET ${path}`, { headers: { accept } });
  expect([status, headers["content-type"]]).toEqual([404, type]);
  const leadsHome = /There is no such page[^]*href="\/"/.test(text);
  expect(leadsHome).toBe(type.startsWith("text/html"));
});

/** Returns the message of a refusal. Each group of paths has the message in a different property of the body. */
const messageOf = (path: string, { error, message }: Json) => {
  if (path.startsWith("/compat/ro")) return message;
  return /^\/(?:api\/v1|compat)\//.test(path) ? error : error?.message;
};

test("the root is a page that links the other pages", async () => {
  const { status, headers, text } = await send("GET /");
  expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  for (const way of ["/me", "/dashboard", "/docs", "/go"]) expect(text).toContain(`href="${way}"`);
  expect((await send("HEAD /")).status).toBe(200);
  expect((await send("POST /")).status).toBe(405);
});

test.each([
  ["/verify/", "/verify"],
  ["/verify/?sid=vs_x&a=%20", "/verify?sid=vs_x&a=%20"],
  ["/go/", "/go"],
  ["/me/", "/me"],
  ["/dashboard/", "/dashboard"],
  ["/dashboard/keys/?x=1", "/dashboard/keys?x=1"],
  ["/docs/", "/docs"],
])("a page with a trailing slash redirects to its path without one: %s", async (path, location) => {
  const { status, headers } = await send(`GET ${path}`);
  expect([status, headers.location]).toEqual([308, location]);
});

describe.each([...methodsByPath.keys()])("%s", (path) => {
  const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"];
  const others = methods.filter((method) => !allowed(path).includes(method));

  test("a path refuses methods that it does not support, and lists the supported ones in the Allow header", async () => {
    for (const method of others) {
      const answer = await send(`${method} ${path}`, { key });
      expect({ status: answer.status, allow: allowOf(answer.headers.allow) }).toEqual({
        status: 405,
        allow: allowed(path),
      });
      const message = messageOf(path, answer.body);
      expect(message).toBe(method === "HEAD" ? undefined : "Method not allowed");
    }
  });

  test("a path answers OPTIONS with its methods in the Allow header", async () => {
    const { status, headers, text } = await send(`OPTIONS ${path}`);
    expect({ status, text, allow: allowOf(headers.allow) }).toEqual({
      status: 204,
      text: "",
      allow: allowed(path),
    });
    expect(headers["x-request-id"]).toMatch(/^req_/);
    expect(headers["service-version"]).toBe(path.startsWith("/v2/") ? "2026-01-01" : undefined);
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });
});

test.each([
  "/v2/chat?chatId=100001",
  "/v2/chat?chatId=100005",
  "/v2/chat",
  "/v2/game?gameId=1",
  "/v2/verifications/chat?chatId=100001",
  "/api/v1/public/chat-to-game?chatId=100001",
  "/api/v1/public/game-to-chat",
  "/healthz",
  "/readyz",
  "/openapi.json",
  "/docs",
])("HEAD is answered like GET, without the body: %s", async (path) => {
  const [head, get] = await Promise.all([send(`HEAD ${path}`, { key }), send(`GET ${path}`, { key })]);
  expect(head.text).toBe("");
  expect(get.text).not.toBe("");
  const varying = { date: null, "x-request-id": null };
  expect({ status: head.status, ...head.headers, ...varying }).toEqual({
    status: get.status,
    ...get.headers,
    ...varying,
  });
});

test("HEAD without a key is redirected like GET", async () => {
  const { status, headers } = await send("HEAD /v2/verifications/chat?pid=p");
  expect({ status, location: headers.location?.replace(/^http:\/\/[^/]+/, "") }).toEqual({
    status: 302,
    location: "/verify?pid=p",
  });
});

test.each([
  "",
  "?",
  "?pid=pid_1&sid=vs_1&redirect=https%3A%2F%2Fa.example%2F%3Fb%3Dc%26d&x=1&x=2",
  "?chatId=100001&guildId=",
  "?a=b%20c+d&%C3%A4=%2F",
])("the redirect into the flow keeps every query parameter: %s", async (query) => {
  const { status, headers } = await send(`GET /v2/verifications/chat${query}`);
  expect(status).toBe(302);
  expect(headers.location).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/verify/);
  const { pathname, searchParams } = new URL(headers.location ?? "");
  expect(pathname).toBe("/verify");
  expect([...searchParams]).toEqual([...new URLSearchParams(query)]);
  expect(headers["service-version"]).toBe("2026-01-01");
  expect(headers["x-request-id"]).toMatch(/^req_/);
});

test("a request with an invalid key is refused instead of redirected to /verify", async () => {
  for (const authorization of ["", "Bearer", "Bearer x", "Basic eDp5", "alk_1"]) {
    const answer = await send("GET /v2/verifications/chat?pid=p", { headers: { authorization } });
    expectRefusal(answer, 401, "INVALID_API_KEY", null);
  }
});

test.each(["/healthz", "/readyz"])("%s answers 200 on a healthy service", async (path) => {
  const { status, headers } = await send(`GET ${path}`);
  expect({ status, options: headers["x-content-type-options"] }).toEqual({ status: 200, options: "nosniff" });
});

test.skipIf(isWebHandler).each(systemPaths)(
  "%s is answered under no other spelling, which could bypass a proxy rule",
  async (path) => {
    const encoded = `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`;
    const dotted = ["/.", "/%2e", "/x/.."].map((dots) => `${url()}${dots}${path}`);
    const others = [encoded, `${encoded}?x`, `${url()}${encoded}`, ...dotted, `/${path}`, `${path};x`];
    for (const other of others) {
      expect([other, (await send(`GET ${other}`)).status]).toEqual([other, 404]);
    }
    for (const same of [`${path}?x=1`, `${url()}${path}?x=1`]) {
      expect([same, (await send(`GET ${same}`)).status]).toEqual([same, 200]);
    }
  },
);

test("/metrics counts requests in the Prometheus format", async () => {
  await send("GET /v2/chat?chatId=100001", { key });
  const { status, headers, text } = await send("GET /metrics");
  expect(status).toBe(200);
  expect(headers["content-type"]).toMatch(/^text\/plain/);
  expect(text).toMatch(/^# TYPE accountlink_http_requests_total counter$/m);
  expect(text).toMatch(/^accountlink_http_requests_total\{[^}]*route="getChat"[^}]*\} [1-9]/m);
});

test("/openapi.json is valid", async () => {
  const { body } = await send("GET /openapi.json");
  const validator = new Validator();
  expect(await validator.validate(body as Record<string, unknown>)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});
