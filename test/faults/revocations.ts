/**
 * Keys that stop being accepted on one node are refused on all of them within a second, and their streams end.
 */
import { setTimeout } from "node:timers/promises";
import { keyIdOf } from "@accountlink/core/keys";
import { runInProcess } from "@accountlink/server/test_command_line";
import { Effect } from "effect";
import { expect, vi } from "vitest";
import { textOf } from "../support/http.ts";
import { patience } from "../support/patience.ts";
import type { World } from "../support/world.ts";
import { withDelay } from "./pulse.ts";
import type { Service } from "./service.ts";

const line = "GET /v2/chat?chatId=100001";
const longest = 1_000;

/** A key of an account of its own. */
interface OwnedKey {
  readonly key: string;
  readonly account: string;
}

type Act = (service: Service, owned: OwnedKey) => Effect.Effect<unknown>;

const reportLeaked: Act = ({ nodes: [first] }, { key }) =>
  Effect.promise(async () => {
    const answer = await first?.send("POST /v2/keys/leaked", { body: { key } });
    expect(answer?.status).toBe(200);
  });

const byCommand =
  (command: (owned: OwnedKey) => ReadonlyArray<string>): Act =>
  ({ environment }, owned) =>
    Effect.promise(async () => {
      const { code, stderr } = await runInProcess(command(owned), environment);
      expect([code, stderr]).toEqual([0, ""]);
    });

/** What ends the acceptance of a key, by name. */
const acts = {
  "reported as leaked": reportLeaked,
  "revoked on the command line": byCommand(({ key }) => ["keys", "revoke", keyIdOf(key) ?? ""]),
  "disabled on the command line": byCommand(({ key }) => ["keys", "disable", keyIdOf(key) ?? ""]),
  "of an account that is suspended": byCommand(({ account }) => ["accounts", "suspend", account]),
} satisfies Record<string, Act>;

/** When the last request was sent that some node accepted the key for. The key is in use all the time. */
const lastAccepted = async ({ nodes }: Service, key: string): Promise<number> => {
  const statusOf = async (node: Service["nodes"][number]) => (await node.send(line, { key })).status;
  const begin = Date.now();
  const times = await Promise.all(
    nodes.map(async (node) => {
      let last = 0;
      for (let sent = Date.now(); (await statusOf(node)) !== 401; sent = Date.now()) {
        last = sent;
        expect(sent - begin).toBeLessThan(patience.timeout);
        await setTimeout(20);
      }
      for (let again = 0; again < 20; again++) expect(await statusOf(node)).toBe(401);
      return last;
    }),
  );
  return Math.max(...times);
};

/** When the newest change of an account began, by its audit entry: a little before it was stored. */
const lastChangeOf = ({ environment }: Service, account: string): Promise<number> =>
  runInProcess(["audit", "list", "--account", account, "--json"], environment).then(({ stdout }) => {
    const { entries } = JSON.parse(stdout) as { readonly entries: ReadonlyArray<{ readonly at: string }> };
    return Date.parse(entries[0]?.at ?? "");
  });

/** Opens a stream on each node, and gives when each has ended. */
const openStreams = ({ nodes }: Service, key: string) =>
  Effect.promise(() =>
    Promise.all(
      nodes.map(async ({ send, url }) => {
        const { body } = await send("POST /v2/sessions", { key, body: { clientId: "client" } });
        const response = await fetch(`${url()}/v2/sessions/${textOf(body.data?.sid)}/stream`, {
          headers: { authorization: `Bearer ${key}` },
        });
        expect(response.status).toBe(200);
        const ended = response.text().then((told) => {
          expect(told).toMatch(/event: timeout\ndata: \{\}\n\n$/);
          return Date.now();
        });
        return { ended };
      }),
    ),
  );

/** Nodes whose connections were closed meanwhile open them again. */
const thawRedis = ({ nodes, redis }: Service) =>
  Effect.andThen(
    redis.thaw,
    Effect.promise(() =>
      vi.waitFor(async () => {
        for (const { send } of nodes) expect((await send("GET /readyz")).body["degraded"]).toBeUndefined();
      }, patience),
    ),
  );

/** One round: how long after the change the last request was accepted and the last stream ended, in milliseconds. */
const runRound = Effect.fnUntraced(function* (service: Service, { act, owned, isRedisAway }: Planned) {
  if (isRedisAway) yield* service.redis.freeze;
  // Every node knows the key by now, and trusts it for a while.
  for (const node of service.nodes) {
    const answer = yield* Effect.promise(() => node.send(line, owned));
    expect([owned.account, answer.status]).toEqual([owned.account, 200]);
  }
  const { value, delay } = yield* withDelay(
    service.nodes,
    Effect.gen(function* () {
      const streams = yield* openStreams(service, owned.key);
      const accepted = lastAccepted(service, owned.key);
      yield* act(service, owned);
      return yield* Effect.promise(() => Promise.all([accepted, ...streams.map(({ ended }) => ended)]));
    }),
  );
  if (isRedisAway) yield* thawRedis(service);
  const [accepted, ...ended] = value;
  const changedAt = yield* Effect.promise(() => lastChangeOf(service, owned.account));
  const times = { accepted: accepted - changedAt, streamed: Math.max(...ended) - changedAt };
  // The longest request that needs no store is how slow the machine was meanwhile.
  for (const time of Object.values(times)) expect(time).toBeLessThan(longest + delay);
  return times;
});

const quantiles = (times: ReadonlyArray<number>): string => {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => `${(sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0)} ms`;
  return `median ${at(0.5)}, slowest ${at(1)}`;
};

/** A round to come. */
interface Planned {
  readonly title: string;
  readonly act: Act;
  readonly owned: OwnedKey;
  readonly isRedisAway: boolean;
}

/** Takes the acts in turn, and freezes Redis in every other round of each. */
export const planRevocations = (world: World, rounds: number): ReadonlyArray<Planned> => {
  const names = Object.keys(acts) as Array<keyof typeof acts>;
  return Array.from({ length: rounds }, (_, round) => {
    const account = `owner ${round}`;
    const name = names[round % names.length] as keyof typeof acts;
    const isRedisAway = (round + Math.floor(round / names.length)) % 2 === 1;
    const owned = { account, key: world.key({ account, links: { 100001: "1" } }) };
    return { title: isRedisAway ? `${name}, with Redis frozen` : name, act: acts[name], owned, isRedisAway };
  });
};

/** @returns how long keys were still accepted and streams open, in words */
export const runRevocations = Effect.fnUntraced(function* (
  service: Service,
  planned: ReadonlyArray<Planned>,
) {
  const done: Array<{ readonly title: string; readonly accepted: number; readonly streamed: number }> = [];
  for (const round of planned) done.push({ title: round.title, ...(yield* runRound(service, round)) });
  return [...Map.groupBy(done, ({ title }) => title)].map(
    ([title, times]) =>
      `${times.length} keys ${title}: accepted ${quantiles(times.map(({ accepted }) => accepted))}; streams ${quantiles(times.map(({ streamed }) => streamed))}`,
  );
});
