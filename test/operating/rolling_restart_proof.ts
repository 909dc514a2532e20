/** Each node of two is restarted behind a balancer of deploy/, while clients read and write. */
import { Agent } from "node:https";
import { storageAt } from "@accountlink/server/test_command_line";
import { freePort, makePostgresDatabase, runUntil, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { chatUsers, makeFixtures } from "../support/fixtures.ts";
import { startServer } from "../support/server.ts";
import { ask, balancers } from "./balancers.ts";

const withoutPostgres = await whyNoPostgresDatabase();
const clients = 12;

for (const { name, whyNone, start } of balancers) {
  const missing = withoutPostgres ?? (await whyNone());

  it.skipIf(missing !== null)(
    `no request fails while nodes restart behind ${name} ${missing ?? ""}`,
    async () => {
      const run = runUntil(onTestFinished);
      const database = await run(makePostgresDatabase());
      const fixtures = makeFixtures();
      const key = fixtures.key({ links: { 100001: "1" } });
      const off = [
        "IP_PER_SECOND",
        "IP_DAILY",
        "PREMIUM_PER_WINDOW",
        "PREMIUM_DAILY",
        "FREE_PER_WINDOW",
        "FREE_DAILY",
      ];
      const startNode = async (port: number) => {
        const node = await startServer({
          fixture: fixtures.fixture,
          env: {
            ...storageAt(database.url),
            ACCOUNTLINK_PORT: `${port}`,
            ACCOUNTLINK_DRAIN_DELAY: "5 seconds",
            ACCOUNTLINK_IDLE_TIMEOUT: "15 seconds",
            ACCOUNTLINK_TRUSTED_PROXIES: "127.0.0.1",
            ...Object.fromEntries(off.map((limit) => [`ACCOUNTLINK_${limit}`, "0"])),
          },
        });
        await eventually(async () => expect((await node.send("GET /readyz")).status).toBe(200));
        return node;
      };
      const ports = [await freePort(), await freePort()];
      const nodes: Array<Awaited<ReturnType<typeof startNode>>> = [];
      for (const port of ports) nodes.push(await startNode(port));
      onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.kill()))));
      const port = await run(start({ servers: ports.map((each) => `127.0.0.1:${each}`) }));
      await eventually(async () => {
        const { status } = await ask({ port, path: "/readyz", from: "127.0.0.1", key });
        expect(status).toBe(200);
      });

      const agent = new Agent({ keepAlive: true });
      onTestFinished(() => agent.destroy());
      const [counts, failed, stopped] = [
        { reads: 0, writes: 0 },
        new Array<unknown>(),
        new AbortController(),
      ];
      const answered = async (kind: keyof typeof counts, path: string, more: object) => {
        counts[kind]++;
        const asked = ask({ port, path, from: "127.0.0.1", key, agent, ...more });
        const { status, body } = await asked.catch((error: unknown) => ({ status: 0, body: String(error) }));
        if (status !== 200) failed.push({ path, status, body });
      };
      const runClient = async (client: number) => {
        const chatId = chatUsers[client]?.id;
        for (let turn = 1; !stopped.signal.aborted; turn++) {
          await answered("reads", "/v2/chat?chatId=100001", {});
          const body = JSON.stringify({ chatId, gameId: `${1 + (turn % 9)}` });
          await answered("writes", "/v2/game", { method: "PATCH", body });
        }
      };
      const running = Array.from({ length: clients }, (_, client) => runClient(client));
      for (const [index, each] of ports.entries()) {
        expect(await nodes[index]?.stop()).toBe(0);
        nodes[index] = await startNode(each);
      }
      stopped.abort();
      await Promise.all(running);
      console.log({ balancer: name, ...counts, failed: failed.length });
      expect(failed).toEqual([]);
      expect(counts.writes).toBeGreaterThan(500);
    },
  );
}
