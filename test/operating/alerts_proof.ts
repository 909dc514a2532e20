/**
 * deploy/alerts.yml and deploy/grafana.json, held against promtool and what a real node exports. `day_proof.ts` lets one
 * of them fire.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInProcess } from "@accountlink/server/test_command_line";
import {
  freePort,
  makePostgresDatabase,
  type Prometheus,
  type RedisServer,
  runPromtool,
  startPrometheus,
  startRedis,
  whyNoPostgresDatabase,
  whyNoPrometheus,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { readDocument } from "../docs/document.ts";
import { guild, makeFixtures } from "../support/fixtures.ts";
import { patience } from "../support/patience.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { alertCases } from "./alert_cases.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly action: string };
}

interface Panel {
  readonly id: number;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets: ReadonlyArray<{ readonly expr: string }>;
}

const rulesFile = fileURLToPath(new URL("../../deploy/alerts.yml", import.meta.url));
const rulesText = readFileSync(rulesFile, "utf8");
const { groups } = parse(rulesText) as {
  readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }>;
};
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(readDocument("deploy/grafana.json")) as {
  readonly panels: ReadonlyArray<Panel>;
};

/** Grafana puts its own interval in. */
const shown = panels.flatMap(({ targets }) =>
  targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "1m")),
);
const asked = [...rules.map(({ expr }) => expr), ...shown];

describe("deploy/grafana.json", () => {
  it("has panels that lie beside each other", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

const noPrometheus = await whyNoPrometheus();

describe.skipIf(noPrometheus !== null)(`deploy/alerts.yml, read by promtool ${noPrometheus ?? ""}`, () => {
  it("is in order", async () => {
    expect(await runPromtool("check", "rules", rulesFile)).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  it("fires each alert and clears it again", async () => {
    expect(Object.keys(alertCases)).toEqual(rules.map(({ alert }) => alert));
    const folder = await mkdtemp(join(tmpdir(), "accountlink-alerts-"));
    const tests = rules.map(({ alert, labels, annotations }) => {
      const { series, fires, clears, of = {} } = alertCases[alert] as (typeof alertCases)[string];
      return {
        interval: "15s",
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [
          {
            eval_time: fires,
            alertname: alert,
            exp_alerts: [{ exp_labels: { ...labels, ...of }, exp_annotations: annotations }],
          },
          { eval_time: clears, alertname: alert, exp_alerts: [] },
        ],
      };
    });
    const file = join(folder, "cases.yml");
    await writeFile(file, JSON.stringify({ rule_files: [rulesFile], tests }));
    try {
      expect(await runPromtool("test", "rules", file)).toContain("SUCCESS");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

const missing = noPrometheus ?? (await whyNoRedis()) ?? (await whyNoPostgresDatabase());

describe.skipIf(missing !== null)(`a Prometheus that scrapes a node ${missing ?? ""}`, () => {
  const scope = Scope.makeUnsafe();
  const fixtures = makeFixtures();
  const key = fixtures.key({ limits: "none", account: "scraped", links: { 100001: "1" } });
  let node: RunningServer;
  let prometheus: Prometheus;
  let redis: RedisServer;

  beforeAll(async () => {
    const run = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>) =>
      Effect.runPromise(Scope.provide(effect, scope));
    redis = await run(startRedis());
    const env = {
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: (await run(makePostgresDatabase())).url,
      ACCOUNTLINK_SECRET: Buffer.alloc(32, 7).toString("base64"),
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: redis.url,
      ACCOUNTLINK_IP_PER_SECOND: "1000",
      ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.1/32",
    };
    node = await startServer({ fixture: fixtures.fixture, env });
    const nobody = `http://127.0.0.1:${await freePort()}/`;
    const words = ["webhooks", "create", "--account", "scraped", "--url", nobody, "--json"];
    expect(await runInProcess(words, env)).toMatchObject({ code: 0, stderr: "" });
    prometheus = await run(startPrometheus({ targets: [new URL(node.url).host], rules: rulesText }));
  });
  afterAll(async () => {
    await node.stop();
    await Effect.runPromise(Scope.close(scope, Exit.void));
  });

  it("is asked for what the nodes export", async () => {
    await node.send(`GET /v2/chat?chatId=100001&guildId=${guild}`, { key });
    await node.send("GET /readyz");
    await node.send("GET /verify?sid=unknown");
    const body = { chatId: "100002", gameId: "1", guildId: guild };
    expect((await node.send("PATCH /v2/game", { key, body })).status).toBe(200);
    await Effect.runPromise(redis.kill);
    const named = asked.flatMap((expression) =>
      [...expression.matchAll(/\b(?:accountlink|process|nodejs)_\w+/g)].map(([name]) => name),
    );
    expect(new Set(named).size).toBeGreaterThan(15);
    // A counter with labels is exported from its first count on: of a webhook that nobody receives, and of Redis that is gone.
    await vi.waitFor(async () => {
      const { text } = await node.send("GET /metrics");
      const exported = new Set([...text.matchAll(/^(\w+)(?:\{.*\})? /gm)].map(([, name]) => name));
      expect(named.filter((name) => !exported.has(name))).toEqual([]);
    }, patience);
  });

  it.each(asked)("reads %s", async (expression) => {
    const answer = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    expect(await answer.json()).toMatchObject({ status: "success" });
  });
});
