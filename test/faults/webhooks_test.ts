/**
 * Webhooks of three nodes on one Postgres and Redis: how soon a receiver hears of a write, and that nothing is lost or out
 * of order when nodes die.
 */
import { runInProcess } from "@accountlink/server/test_command_line";
import { startHttpServer } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { makeWorld } from "../support/world.ts";
import { type Service, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const world = makeWorld();
const key = world.key({ account: "one" });

interface Heard {
  readonly id: string;
  readonly chatId: string;
  readonly linkVersion: number;
  readonly at: number;
}

describe.skipIf(missing !== null)(`webhooks of three nodes ${missing ?? ""}`, () => {
  const scope = Scope.makeUnsafe();
  const heard: Array<Heard> = [];
  let service: Service;

  beforeAll(async () => {
    service = await Effect.runPromise(
      Scope.provide(
        startService({
          fixture: world.fixture,
          env: { ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" },
        }),
        scope,
      ),
    );
    const { url } = await Effect.runPromise(
      Scope.provide(
        startHttpServer(({ headers, body }) => {
          const { data } = JSON.parse(body) as { readonly data: Pick<Heard, "chatId" | "linkVersion"> };
          heard.push({ ...data, id: String(headers["webhook-id"]), at: performance.now() });
          return { status: 204 };
        }),
        scope,
      ),
    );
    const words = ["webhooks", "create", "--account", "one", "--url", url];
    expect(await runInProcess(words, service.environment)).toMatchObject({ code: 0, stderr: "" });
  }, 120_000);
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 60_000);

  /** Writes to a user on a node; null if the node did not answer. */
  const write = async (node: Service["nodes"][number], chatId: string, gameId: string) => {
    const answer = await node.send("PATCH /v2/game", { key, body: { chatId, gameId } }).catch(() => null);
    return answer?.status === 200 ? { answeredAt: performance.now() } : null;
  };

  test("a receiver hears of a write on any node soon", async () => {
    await vi.waitFor(
      async () => {
        await write(service.nodes[0] as Service["nodes"][number], "99999", String((heard.length % 2) + 1));
        expect(heard.length).toBeGreaterThan(0);
      },
      { timeout: 20_000, interval: 200 },
    );
    const delays: Array<number> = [];
    for (let round = 0; round < 90; round++) {
      const node = service.nodes[round % 3] as Service["nodes"][number];
      const chatId = String(200_000 + round);
      const written = await write(node, chatId, "1");
      const arrived = await vi.waitFor(
        () => {
          const found = heard.find((each) => each.chatId === chatId);
          if (found === undefined) throw new Error(`${chatId} was not heard of`);
          return found.at;
        },
        { timeout: 20_000, interval: 1 },
      );
      delays.push(Math.max(0, arrived - (written?.answeredAt ?? arrived)));
    }
    const sorted = delays.toSorted((one, other) => one - other);
    const [median, p99] = [sorted[45] ?? 0, sorted[89] ?? 0];
    console.log(
      `from an answered write to the receiver: median ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    );
    // On a quiet machine 500 ms; here other tests run beside this one.
    expect(p99).toBeLessThan(3_000);
  }, 120_000);

  test("nothing is lost or out of order when each node dies, one after the other", async () => {
    const users = Array.from({ length: 12 }, (_, index) => String(300_000 + index));
    const end = new AbortController();
    const writes = users.map(async (chatId, index) => {
      for (let round = 0; !end.signal.aborted; round++) {
        const up = service.nodes.filter((node) => node.isUp());
        const node = up[(round + index) % up.length];
        if (node !== undefined) await write(node, chatId, String((round % 5) + 1));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    // One of them sends the webhook.
    for (const node of service.nodes) {
      const before = heard.length;
      await vi.waitFor(() => expect(heard.length).toBeGreaterThan(before + 50), { timeout: 30_000 });
      await Effect.runPromise(node.kill);
      const killedAt = performance.now();
      await vi.waitFor(
        () => expect(heard.filter(({ at }) => at > killedAt + 500).length).toBeGreaterThan(0),
        { timeout: 20_000 },
      );
      const next = heard.find(({ at }) => at > killedAt + 500)?.at ?? Infinity;
      console.log(`after a kill the receiver waited for ${(next - killedAt).toFixed(0)} ms`);
      expect(next - killedAt).toBeLessThan(12_000);
      await Effect.runPromise(node.restart);
    }
    end.abort();
    await Promise.all(writes);

    const [node] = service.nodes;
    if (node === undefined) throw new Error("There is no node");
    const { body } = await node.send("GET /v2/links?limit=1000", { key });
    const links = body.data?.links as unknown as ReadonlyArray<Pick<Heard, "chatId" | "linkVersion">>;
    for (const chatId of users) {
      const stored = links.find((link) => link.chatId === chatId)?.linkVersion ?? 0;
      await vi.waitFor(
        () => {
          const versions = heard.filter((each) => each.chatId === chatId).map((each) => each.linkVersion);
          expect(new Set(versions).size).toBe(stored);
        },
        { timeout: 20_000 },
      );
      const firsts = [
        ...new Set(heard.filter((each) => each.chatId === chatId).map((each) => each.linkVersion)),
      ];
      expect(firsts).toEqual(Array.from({ length: stored }, (_, index) => index + 1));
    }
    const twice = heard.length - new Set(heard.map(({ id }) => id)).size;
    console.log(`${heard.length} deliveries, of which ${twice} came twice`);
  }, 180_000);
});
