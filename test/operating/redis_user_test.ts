/** The restricted Redis user of docs/operating.md, over TLS with a private certificate authority. */
import { readFileSync } from "node:fs";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { storageAt } from "@accountlink/server/test_command_line";
import {
  makeCertificate,
  makePostgresDatabase,
  startRedis,
  whyNoCertificate,
} from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { blocksOf, readDocument } from "../docs/document.ts";
import { whyNoService } from "../faults/service.ts";
import { eventually } from "../support/eventually.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { serverInScope } from "../support/server.ts";

const missing = (await whyNoService()) ?? (await whyNoCertificate());

const documented = blocksOf(readDocument("docs/operating.md")).find(({ text }) => text.startsWith("user "));
const [, ...user] = (documented?.text ?? "").trim().split(" ");

testLive.skipIf(missing !== null)(`nodes work as a restricted Redis user ${missing ?? ""}`, function* () {
  const { certificate, key: certificateKey } = yield* makeCertificate;
  const redis = yield* startRedis({ tls: { certificate, key: certificateKey } });
  const postgres = yield* makePostgresDatabase();
  expect(yield* redis.ask("ACL", "SETUSER", ...user)).toBe("+OK\r\n");

  const fixtures = makeFixtures();
  const keys = Array.from({ length: 40 }, () =>
    fixtures.key({ limits: { perWindow: 0, daily: 4 }, links: { 100001: "1" } }),
  );
  const env = {
    ...storageAt(postgres.url),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redis.url.replace("//", "//accountlink:password@"),
  };
  // As Node does for NODE_EXTRA_CA_CERTS.
  const authorities = getCACertificates("default");
  setDefaultCACertificates([...authorities, readFileSync(certificate, "utf8")]);
  yield* Effect.addFinalizer(() => Effect.sync(() => setDefaultCACertificates(authorities)));
  const start = serverInScope({ fixture: fixtures.fixture, env });
  const nodes = yield* Effect.all([start, start]);
  yield* Effect.promise(async () => {
    // Both nodes count requests together, in Redis. If the machine is so busy that a node cannot reach Redis,
    // that node counts on its own for a while.
    await eventually(
      async () => {
        const key = keys.pop() ?? "";
        const statuses: Array<number | undefined> = [];
        for (let i = 0; i < 5; i++) {
          const answer = await nodes[i % 2]?.send("GET /v2/chat?chatId=100001", { key });
          statuses.push(answer?.status);
        }
        expect(statuses).toEqual([200, 200, 200, 200, 429]);
        for (const { send } of nodes) {
          const { text } = await send("GET /metrics");
          expect(text).toMatch(/^accountlink_limits_alone(\{\})? 0$/m);
        }
      },
      { interval: 500 },
    );
    for (const { output } of nodes) expect(output()).not.toContain("NOPERM");
  });
  expect(yield* redis.ask("ACL", "LOG")).toBe("*0\r\n");
});
