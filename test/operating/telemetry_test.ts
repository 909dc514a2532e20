/** Traces and metrics that the server exports to an OpenTelemetry collector. */
import { type HeardRequest, startHttpServer } from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { serverInScope } from "../support/server.ts";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: ReadonlyArray<Attribute>;
}

interface Exported {
  readonly resourceSpans?: ReadonlyArray<{
    readonly resource: { readonly attributes: ReadonlyArray<Attribute> };
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }>;
  }>;
  readonly resourceMetrics?: ReadonlyArray<{
    readonly scopeMetrics: ReadonlyArray<{ readonly metrics: ReadonlyArray<{ readonly name: string }> }>;
  }>;
}

const exportedTo = (heard: ReadonlyArray<HeardRequest>): ReadonlyArray<Exported> =>
  heard.map(({ body }) => JSON.parse(body) as Exported);

const spansIn = (heard: ReadonlyArray<HeardRequest>): ReadonlyArray<Span> =>
  exportedTo(heard)
    .flatMap(({ resourceSpans = [] }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);

const textOf = ({ attributes }: Span, name: string) =>
  attributes.find(({ key }) => key === name)?.value.stringValue;

/** Returns the span names from a span up to the root of its trace. */
const pathOf = (span: Span, all: ReadonlyArray<Span>): ReadonlyArray<string> => {
  const parent = all.find(({ spanId }) => spanId === span.parentSpanId);
  return parent === undefined ? [span.name] : [span.name, ...pathOf(parent, all)];
};

const fixtures = makeFixtures();
const key = fixtures.key({ limits: "none", links: { 100001: "1" } });

const exportTo = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector",
  OTEL_BSP_SCHEDULE_DELAY: "100",
  OTEL_METRIC_EXPORT_INTERVAL: "200",
  OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
});

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const headers = { traceparent: `00-${traceId}-${parentId}-01` };

testLive("traces and metrics reach the collector, without an address, key or user ID", function* () {
  const collector = yield* startHttpServer(() => ({ body: {} }));
  const { send } = yield* serverInScope({ fixture: fixtures.fixture, env: exportTo(collector.url) });
  const ask = (...request: Parameters<typeof send>) => Effect.promise(() => send(...request));
  const answer = yield* ask("GET /v2/chat?chatId=100001", { key, from: "203.0.113.7", headers });
  expect(answer.status).toBe(200);
  const refused = yield* ask("GET /v2/verifications/chat?chatId=100001", {
    key: `${key}x`,
    from: "203.0.113.7",
  });
  expect(refused.status).toBe(401);
  yield* ask("PATCH /v2/game", { key, body: { chatId: "100001", gameId: "2" } });
  const traced = ["GET /v2/chat", "GET /v2/verifications/chat", "PATCH /v2/game"];
  const all = yield* Effect.promise(() =>
    eventually(() => {
      const found = spansIn(collector.heard);
      expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(traced));
      return found;
    }),
  );

  // The trace connects the request with its SQL statements, as a part of the client's trace.
  const spans = all.filter((span) => span.traceId === traceId);
  const root = spans.find(({ name }) => name === "GET /v2/chat") as Span;
  expect(root.parentSpanId).toBe(parentId);
  expect(textOf(root, "accountlink.request_id")).toBe(answer.headers["x-request-id"]);
  expect(textOf(root, "accountlink.key")).toBe(key.split("_")[1]);
  const statements = spans.filter(({ name }) => name === "sqlite");
  expect(statements.map((span) => pathOf(span, spans))).toContainEqual([
    "sqlite",
    "LinkStore.findByChatId",
    "GET /v2/chat",
  ]);
  for (const statement of statements) expect(textOf(statement, "db.query.text")).toContain("SELECT");

  const exported = () =>
    exportedTo(collector.heard)
      .flatMap(({ resourceMetrics = [] }) => resourceMetrics)
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics }) => metrics.map(({ name }) => name));
  yield* Effect.promise(() =>
    // Some metrics appear only after their first use.
    eventually(async () => {
      const { text } = await send("GET /metrics");
      const scraped = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
      expect(scraped.length).toBeGreaterThan(10);
      expect(text).toMatch(/^accountlink_disk_free_bytes(\{\})? [1-9]\d*$/m);
      expect(new Set(exported())).toEqual(new Set(scraped));
    }),
  );
  const [resource] = exportedTo(collector.heard).flatMap(({ resourceSpans = [] }) => resourceSpans);
  const of = (name: string) =>
    resource?.resource.attributes.find((attribute) => attribute.key === name)?.value.stringValue;
  expect([of("service.name"), of("deployment.environment")]).toEqual(["accountlink", "test"]);

  const told = collector.heard.map((request) => request.body).join("\n");
  // The pattern finds the user ID only outside of longer numbers, because times and trace IDs may contain its
  // digits.
  expect(told).not.toMatch(/(?<![0-9a-f])100001(?![0-9a-f])/);
  for (const secret of ["203.0.113.7", "127.0.0.1", key.slice(-20), "autocannon"]) {
    expect(told).not.toContain(secret);
  }
  for (const { headers: sent, path } of collector.heard) {
    expect(sent.authorization).toBe("Bearer collector");
    expect(["/v1/traces", "/v1/metrics"]).toContain(path);
  }
});
