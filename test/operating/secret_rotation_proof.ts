/**
 * The rotation that docs/operating.md describes, under load: three nodes are restarted one by one, first with both
 * secrets and both address keys, then with the new ones alone.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { runInProcess } from "@accountlink/server/test_command_line";
import {
  makePostgresDatabase,
  redisUrl,
  whyNoPostgresDatabase,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, describe, expect, it } from "vitest";
import { type RunningServer, startServer } from "../support/server.ts";
import { chatUsers, makeWorld } from "../support/world.ts";

const missing = (await whyNoPostgresDatabase()) ?? (await whyNoRedisUrl());

const newSecret = () => randomBytes(32).toString("base64");
const chatIds = chatUsers.map(({ id }) => id);

const scope = Scope.makeUnsafe();
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

describe.skipIf(missing !== null)(`secrets rotate ${missing ?? "on three nodes"}`, () => {
  it("refuses no good key, whatever node has which secrets", { timeout: 300_000 }, async () => {
    const { url, query } = await Effect.runPromise(Scope.provide(makePostgresDatabase(), scope));
    const world = makeWorld();
    const account = "acme";
    const key = world.key({ account, links: Object.fromEntries(chatIds.map((chatId) => [chatId, "1"])) });
    const sightings = chatIds.map((chatId, i) => ({
      account,
      scope: "global",
      chatId,
      ip: `203.0.113.${i + 1}`,
    }));
    const shared = {
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: url,
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: await Effect.runPromise(Scope.provide(redisUrl, scope)),
      ACCOUNTLINK_REDIS_PREFIX: `test-${randomBytes(8).toString("hex")}:`,
    };
    const [oldSecret, secret] = [newSecret(), newSecret()];
    const [oldKey, addressKey] = [`k1:${newSecret()}`, `k2:${newSecret()}`];
    const under = (secrets: string, addressKeys: string) => ({
      ...shared,
      ACCOUNTLINK_SECRET: secrets,
      ACCOUNTLINK_ADDRESS_KEYS: addressKeys,
    });
    const start = (env: Readonly<Record<string, string>>) =>
      startServer({ fixture: { ...world.fixture, sightings }, env });
    const run = async (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
      const { stdout } = await runInProcess([...args, "--json"], env);
      return JSON.parse(stdout) as Record<string, unknown>;
    };

    const before = under(oldSecret, oldKey);
    const nodes: Array<RunningServer> = [await start(before), await start(before), await start(before)];
    /** Nodes that get no more requests, and the requests that each has under way. */
    const taken = new Set<RunningServer>();
    const underWay = new Map<RunningServer, Set<Promise<unknown>>>();
    const keys = [key];

    const statuses = new Map<number, number>();
    const ended = new AbortController();
    const ask = async (client: number) => {
      for (let i = client; !ended.signal.aborted; i++) {
        const inService = nodes.filter((node) => !taken.has(node));
        const node = inService[i % inService.length] as RunningServer;
        const [chatId, gameId] = [chatIds[i % chatIds.length], String((i % 9) + 1)];
        const request =
          i % 3 === 0
            ? node.send("PATCH /v2/game", { key, body: { chatId, gameId } })
            : node.send(`GET /v2/chat?chatId=${chatId}`, { key: keys[i % keys.length] ?? key });
        const ofNode = underWay.get(node) ?? new Set();
        underWay.set(node, ofNode.add(request));
        const { status } = await request;
        ofNode.delete(request);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await sleep(20 * Math.random());
      }
    };
    const load = Promise.all(Array.from({ length: 8 }, (_, client) => ask(client)));
    /** Restarts the nodes one by one, each taken out of service first, as a balancer does. */
    const restart = async (env: Readonly<Record<string, string>>) => {
      for (const [i, node] of nodes.entries()) {
        taken.add(node);
        for (const request of underWay.get(node) ?? []) await request;
        expect(await node.stop()).toBe(0);
        nodes[i] = await start(env);
      }
    };
    const createKey = async (env: Readonly<Record<string, string>>) => {
      const created = await run(
        env,
        "keys",
        "create",
        "--account",
        account,
        "--kind",
        "partner",
        "--unlimited",
      );
      keys.push(String(created["key"]));
    };

    const both = under(`${secret},${oldSecret}`, `${addressKey},${oldKey}`);
    await restart(both);
    await createKey(both);
    expect(await run(both, "secrets", "rotate")).toMatchObject({
      secret: "rotated",
      addressKey: "k2",
      sightings: { rotated: chatIds.length, unreadable: 0 },
    });
    await createKey(both);
    const after = under(secret, addressKey);
    await restart(after);
    await createKey(after);
    ended.abort();
    await load;

    console.log(Object.fromEntries(statuses));
    expect([...statuses.keys()]).toEqual([200]);
    expect(statuses.get(200)).toBeGreaterThan(200);
    for (const { send } of nodes) {
      for (const good of keys) {
        expect((await send("GET /v2/chat?chatId=100001", { key: good })).status).toBe(200);
      }
    }
    expect(await Effect.runPromise(query("SELECT DISTINCT address_key_id AS id FROM sightings"))).toEqual([
      { id: "k2" },
    ]);
    expect(await run(after, "secrets", "rotate")).toMatchObject({
      secret: "unchanged",
      sightings: { rotated: 0, unreadable: 0 },
    });
    await expect(start(before)).rejects.toThrow("Cannot start: ACCOUNTLINK_SECRET is not the secret");
    for (const node of nodes) expect(await node.stop()).toBe(0);
  });
});
