/**
 * Tests deploy/alerts.yml and deploy/grafana.json: promtool reads their expressions, every alert fires and clears,
 * and nodes export every metric in them.
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInProcess, storageAt } from "@accountlink/server/test_command_line";
import {
  freePort,
  makePostgresDatabase,
  runPromtool,
  startRedis,
  whyNoPostgresDatabase,
  whyNoPromtool,
  whyNoRedis,
} from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readDocument } from "../docs/document.ts";
import { chatKey, command } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { guild, makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { guildId, startLivePlatforms } from "../support/live_platforms.ts";
import { serverInScope, startServer } from "../support/server.ts";
import { alertCases } from "./alert_cases.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly action: string };
}

const rulesFile = fileURLToPath(new URL("../../deploy/alerts.yml", import.meta.url));
const { groups } = parse(readFileSync(rulesFile, "utf8")) as {
  readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }>;
};
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(readDocument("deploy/grafana.json")) as {
  readonly panels: ReadonlyArray<{ readonly targets: ReadonlyArray<{ readonly expr: string }> }>;
};
const shown = panels.flatMap(({ targets }) =>
  // Replace the variable for which Grafana inserts its own interval.
  targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "1m")),
);

const noPromtool = await whyNoPromtool();

describe.skipIf(noPromtool !== null)(`promtool ${noPromtool ?? ""}`, () => {
  const folder = useFolder();

  it("promtool accepts every alert and panel", async () => {
    expect(await runPromtool("check", "rules", rulesFile)).toContain(`SUCCESS: ${rules.length} rules found`);
    const records = shown.map((expr, index) => ({ record: `panel_${index}`, expr }));
    const file = join(folder, "panels.yml");
    await writeFile(file, JSON.stringify({ groups: [{ name: "panels", rules: records }] }));
    expect(await runPromtool("check", "rules", file)).toContain(`SUCCESS: ${shown.length} rules found`);
  });

  it("each alert fires and clears", async () => {
    expect(Object.keys(alertCases)).toEqual(rules.map(({ alert }) => alert));
    const tests = rules.map(({ alert, labels, annotations }) => {
      const [series, fires, clears, of = {}] = alertCases[alert] as (typeof alertCases)[string];
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
    expect(await runPromtool("test", "rules", file)).toContain("SUCCESS");
  });
});

const folder = useFolder();
const missing = (await whyNoRedis()) ?? (await whyNoPostgresDatabase());

testLive.skipIf(missing !== null)(`nodes export every metric of deploy/ ${missing ?? ""}`, function* () {
  const fixtures = makeFixtures();
  const key = fixtures.key({ limits: "none", account: "scraped", links: { 100001: "1" } });
  const redis = yield* startRedis();
  const env = {
    ...storageAt((yield* makePostgresDatabase()).url),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redis.url,
    ACCOUNTLINK_IP_PER_SECOND: "1000",
    ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.1/32",
    ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey,
  };
  const { send } = yield* serverInScope({ fixture: fixtures.fixture, env }, startServer);
  // Only an embedded storage has a disk and backups of its own.
  const embedded = yield* serverInScope(
    { fixture: {}, env: { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_BACKUP_DIR: folder } },
    startServer,
  );
  // Only the live chat platform has a gateway.
  const platforms = yield* Effect.acquireRelease(
    Effect.promise(() => startLivePlatforms()),
    ({ stop }) => Effect.promise(stop),
  );
  const club = makeFixtures();
  club.key({ account: "club", guildId });
  club.plan({ account: "club", guildId, rules: [{ roleId: "5", when: { is: "linked" } }] });
  const live = yield* serverInScope(
    {
      fixture: club.fixture,
      env: { ...platforms.env, ACCOUNTLINK_PUBLIC_URL: "http://127.0.0.1", ACCOUNTLINK_CHAT_GATEWAY: "on" },
    },
    startServer,
  );
  yield* Effect.promise(async () => {
    const nobody = `http://127.0.0.1:${await freePort()}/`;
    const words = ["webhooks", "create", "--account", "scraped", "--url", nobody, "--json"];
    expect(await runInProcess(words, env)).toMatchObject({ code: 0, stderr: "" });
    await send(`GET /v2/chat?chatId=100001&guildId=${guild}`, { key });
    await send("GET /readyz");
    await send("GET /verify?sid=unknown");
    await command(send, { chatId: "100001" }, "verify");
    const body = { chatId: "100002", gameId: "1", guildId: guild };
    expect((await send("PATCH /v2/game", { key, body })).status).toBe(200);
  });
  // A counter with labels is exported only after its first count. The failed delivery above and the loss of Redis
  // cause the first count of some counters.
  yield* redis.kill;
  const named = [...rules.map(({ expr }) => expr), ...shown].flatMap((expression) =>
    [...expression.matchAll(/\b(?:accountlink|process|nodejs)_\w+/g)].map(([name]) => name),
  );
  expect(new Set(named).size).toBeGreaterThan(15);
  yield* Effect.promise(() =>
    eventually(async () => {
      await send(`GET /v2/chat?chatId=100001&guildId=${guild}`, { key });
      const texts = await Promise.all([send, embedded.send, live.send].map((ask) => ask("GET /metrics")));
      const text = texts.map((answer) => answer.text).join("\n");
      const exported = new Set([...text.matchAll(/^(\w+)(?:\{.*\})? /gm)].map(([, name]) => name));
      expect(named.filter((name) => !exported.has(name))).toEqual([]);
    }),
  );
});
