/** Routes of the operator port and of the public port. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { makeClient, type Send } from "../support/http.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";

const { fixture } = makeFixtures();

let server: RunningServer;
let operator: { readonly send: Send; readonly close: () => void };
beforeAll(async () => {
  server = await startServerHere({ fixture, env: { ACCOUNTLINK_OPERATOR_PORT: "0" } });
  const [, port = ""] = /"Operators are served".*"port":(\d+)/.exec(server.output()) ?? [];
  operator = makeClient(`http://127.0.0.1:${port}`);
});
afterAll(async () => {
  operator.close();
  expect(await server.stop()).toBe(0);
});

it("only the operator port serves /metrics", async () => {
  const metrics = await operator.send("GET /metrics");
  expect([metrics.status, metrics.headers["content-type"]]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  expect(metrics.text).toMatch(/^process_cpu_seconds_total [\d.]+$/m);
  for (const method of ["GET", "HEAD", "OPTIONS", "POST"]) {
    expect((await server.send(`${method} /metrics`)).status).toBe(404);
  }
  const { body } = await server.send("GET /metrics?all=true");
  expect(body).toMatchObject({ error: { code: "BAD_REQUEST" } });
});

it.each(["/healthz", "/readyz"])("the operator port serves %s like the public port", async (path) => {
  const [one, other] = [await operator.send(`GET ${path}`), await server.send(`GET ${path}`)];
  expect([one.status, one.text]).toEqual([200, other.text]);
});

it.each(["/v2/chat?chatId=100001", "/docs", "/openapi.json", "/verify", "/"])(
  "the operator port does not serve %s",
  async (path) => {
    expect((await operator.send(`GET ${path}`)).status).toBe(404);
  },
);
