/** Very many clients that wait on one server, for sessions or for events, and what that costs it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { changePollInterval } from "@accountlink/core/sessions";
import { expect, onTestFinished, vi } from "vitest";
import { type Fixtures, makeFixtures } from "../support/fixtures.ts";
import { makeClient, type Send, textOf } from "../support/http.ts";
import { startServer } from "../support/server.ts";
import type { Held } from "./heap_probe.ts";
import type { Told, Wanted } from "./waiting_clients.ts";

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const probe = `--import=${new URL("heap_probe.ts", import.meta.url).href}`;

/** The longest a test may take to open its clients and look at them. */
const patience = { timeout: 600_000, interval: 50 };

/** What waiting has cost; sizes are in bytes for each client. */
export interface WaitingCost {
  readonly heapEach: number;
  /** What is left of that after all have been answered. */
  readonly heapLeftEach: number;
  readonly fibersLeft: number;
  readonly handlesLeft: number;
  /** From a change to the end of the read that waited for it, in milliseconds. */
  readonly wakeTimes: { readonly median: number; readonly p99: number; readonly longest: number };
}

/** A server that can be asked what it holds. */
interface Probed {
  readonly pid: number;
  readonly output: () => string;
}

/** What a server holds, its garbage aside. */
const heldBy = async ({ pid, output }: Probed): Promise<Held> => {
  const count = () => [...output().matchAll(/^held (.*)$/gm)];
  const before = count().length;
  process.kill(pid, "SIGUSR2");
  await vi.waitFor(() => expect(count().length).toBe(before + 1), patience);
  return JSON.parse(count().at(-1)?.[1] ?? "") as Held;
};

/** More fibers and handles than the server's own work ever takes at once. */
const comesAndGoes = 10;

const openHandles = ({ handles }: Held): number =>
  Object.values(handles).reduce((total, count) => total + count, 0);

/** Clients in a process of their own that wait for these URLs. */
const startClients = async (wanted: Wanted) => {
  const child = fork(fileOf("waiting_clients.ts"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  onTestFinished(() => void child.kill());
  const ended = once(child, "exit");
  const hear = async (): Promise<Told> => {
    const [told] = (await Promise.race([once(child, "message"), ended])) as [Told | number | null];
    if (typeof told === "object" && told !== null) return told;
    throw new Error(`Cannot wait: the clients ended with ${told}`);
  };
  child.send(wanted);
  await hear();
  const told = hear();
  // A test that has failed before does not ask.
  told.catch(() => {});
  return { told, ended };
};

const atOnce = 16;

const inTurn = async <A>(count: number, make: (index: number) => Promise<A>): Promise<Array<A>> => {
  const made: Array<A> = [];
  let next = 0;
  const work = async () => {
    while (next < count) {
      const index = next++;
      made[index] = await make(index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return made;
};

interface Waiting extends Wanted {
  readonly countOpen: () => Promise<number>;
  /** Wakes them, and gives the time at which each was, in milliseconds of the clock. */
  readonly wake: () => Promise<ReadonlyArray<number>>;
}

const costOf = async (
  server: Probed,
  { requests, begins, countOpen, wake }: Waiting,
): Promise<WaitingCost> => {
  const count = requests.length;
  const untilOpen = (wanted: number) =>
    vi.waitFor(async () => expect(await countOpen()).toBe(wanted), patience);
  const before = await heldBy(server);
  const clients = await startClients({ requests, begins });
  await untilOpen(count);
  const during = await heldBy(server);
  // Looking at all that it holds has stopped the server for a while; it catches up first.
  await untilOpen(count);
  const wokenAt = await wake();
  const told = await clients.told;
  await clients.ended;
  await untilOpen(0);
  const after = await vi.waitFor(async () => {
    const held = await heldBy(server);
    expect(openHandles(held) - openHandles(before)).toBeLessThan(comesAndGoes);
    return held;
  }, patience);
  const endedAt = "endedAt" in told ? told.endedAt : [];
  const times = endedAt.map((at, index) => at - (wokenAt[index] ?? 0)).toSorted((one, other) => one - other);
  const at = (part: number): number => times[Math.ceil(part * count) - 1] ?? Number.NaN;
  return {
    heapEach: (during.heap - before.heap) / count,
    heapLeftEach: (after.heap - before.heap) / count,
    fibersLeft: after.fibers - before.fibers,
    handlesLeft: openHandles(after) - openHandles(before),
    wakeTimes: { median: at(0.5), p99: at(0.99), longest: at(1) },
  };
};

/** Starts a server on which clients wait longer than any test takes. */
const startPatientServer = async ({ fixture }: Fixtures) => {
  const server = await startServer({
    fixture,
    env: {
      ACCOUNTLINK_CONNECTIONS: "30000",
      NODE_OPTIONS: probe,
      ACCOUNTLINK_STORAGE: "memory",
      ACCOUNTLINK_SESSION_TTL: "30 minutes",
      ACCOUNTLINK_LONG_POLL_MAX: "20 minutes",
      ACCOUNTLINK_STREAM_MAX: "20 minutes",
      ACCOUNTLINK_POLL_INTERVAL: "0 seconds",
      ACCOUNTLINK_SESSION_CREATE_BURST: "0",
    },
  });
  onTestFinished(() => server.kill());

  /** Asks on connections that are new: one that was idle for long may be closed just when it is used again. */
  const asking = async <A>(ask: (send: Send) => Promise<A>): Promise<A> => {
    const client = makeClient(server.url);
    return ask(client.send).finally(client.close);
  };

  const countOf = (metric: string) => async (): Promise<number> => {
    const { text } = await asking((send) => send("GET /metrics"));
    return Number(new RegExp(`^${metric} (\\d+)$`, "m").exec(text)?.[1]);
  };
  return { server, asking, countOf };
};

const paths = { stream: "/stream", poll: "?wait=1200" };

/** Starts a server on which clients wait for sessions. */
export const startWaitingServer = async () => {
  const fixtures = makeFixtures();
  const key = fixtures.key({ kind: "staff" });
  const { server, asking, countOf } = await startPatientServer(fixtures);
  const countOpen = countOf("accountlink_session_reads_open");

  /** Lets `count` clients wait, each for a session of its own, and then cancels these one after the other. */
  const wait = async (kind: keyof typeof paths, count: number): Promise<WaitingCost> => {
    const sids = await asking((send) =>
      inTurn(count, async () => {
        const { body } = await send("POST /v2/sessions", { key, body: { clientId: "client" } });
        return textOf(body.data?.sid);
      }),
    );
    const cancel = () =>
      asking((send) =>
        inTurn(count, async (index) => {
          const at = Date.now();
          const { status } = await send(`DELETE /v2/sessions/${sids[index]}`, { key });
          expect(status).toBe(200);
          return at;
        }),
      );
    const requests = sids.map((sid) => ({ url: `${server.url}/v2/sessions/${sid}${paths[kind]}`, key }));
    return costOf(server, { requests, begins: kind === "stream", countOpen, wake: cancel });
  };

  return { wait, stop: server.stop };
};

/** As many readers of a key may wait on a node. */
const readersOfKey = 16;

/** Starts a server on which up to `most` clients wait for events of one scope. */
export const startFeedServer = async (most: number) => {
  const fixtures = makeFixtures();
  const keys = Array.from({ length: Math.ceil(most / readersOfKey) }, () =>
    fixtures.key({ kind: "staff", account: "readers" }),
  );
  const { server, asking, countOf } = await startPatientServer(fixtures);
  const countOpen = countOf("accountlink_event_readers_waiting");
  let game = 0;

  /** Lets `count` clients wait, and then changes a link. */
  const wait = (count: number): Promise<WaitingCost> => {
    const wake = () =>
      asking(async (send) => {
        const body = { chatId: "100001", gameId: String((game++ % 9) + 1) };
        const { status } = await send("PATCH /v2/game", { key: keys[0] as string, body });
        expect(status).toBe(200);
        return Array<number>(count).fill(Date.now());
      });
    const requests = Array.from({ length: count }, (_, index) => ({
      url: `${server.url}/v2/events${paths.poll}`,
      key: keys[Math.floor(index / readersOfKey)] as string,
    }));
    return costOf(server, { requests, begins: false, countOpen, wake });
  };

  return { wait, stop: server.stop };
};

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

/** Prints what was measured, and holds it to what is promised of everybody who waits. */
const expectLittle = (kind: string, count: number, cost: WaitingCost): void => {
  console.log(
    `${count} ${kind}: ${kilobytes(cost.heapEach)} of heap each, ${kilobytes(cost.heapLeftEach)} left after; ` +
      `woken after ${cost.wakeTimes.median} ms (median), ${cost.wakeTimes.p99} ms (p99), ${cost.wakeTimes.longest} ms (longest)`,
  );
  expect(cost.heapEach).toBeLessThan(25_000);
  expect(cost.fibersLeft).toBeLessThan(comesAndGoes);
  expect(cost.handlesLeft).toBeLessThan(comesAndGoes);
};

/** @param wakeTime the longest time to wake anybody who waits for a session, in milliseconds */
export const expectCheap = (kind: string, count: number, cost: WaitingCost, wakeTime: number): void => {
  expectLittle(kind, count, cost);
  // Without signals everybody would still be woken, by the healing.
  expect(cost.wakeTimes.median).toBeLessThan(changePollInterval / 4);
  expect(cost.wakeTimes.longest).toBeLessThan(wakeTime);
  // A session that was read leaves its count behind, until it is over.
  expect(cost.heapLeftEach).toBeLessThan(3_000);
};

/** All readers of a feed are answered at once, so how soon depends on their number. */
export const expectCheapReaders = (count: number, cost: WaitingCost): void => {
  expectLittle("readers of events", count, cost);
  expect(cost.heapLeftEach).toBeLessThan(1_000);
};
