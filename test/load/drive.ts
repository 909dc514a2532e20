/**
 * The load generator, in a process of its own. Prints a `Drive` as JSON.
 *
 * Usage: `node drive.ts URL SEED (--amount=REQUESTS | --duration=SECONDS) [--kind=single|bulk|spread] [--rate=PER_SECOND]`
 */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { parseArgs } from "node:util";
import autocannon, { type Extent, type PlannedRequest } from "autocannon";
import { addressOf, apiKey, chatIds, keyCount, keyOf, shuffled } from "./workload.ts";

/** What one drive came to. */
export interface Drive {
  readonly requests: number;
  /** How long it took, in seconds. */
  readonly seconds: number;
  /** Latency in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Requests that failed or were refused. A drive with any measures nothing. */
  readonly failed: number;
}

/** A look-up of one chat user, or of 50 at once; or of one by many keys in turn, each from an address of its own. */
export type DriveKind = "single" | "bulk" | "spread";

/** How long to wait for an answer, in milliseconds. */
const patience = 10_000;

const connections = 32;
const bulkSize = 50;

const drive = async (url: string, seed: number, extent: Extent, kind: DriveKind): Promise<Drive> => {
  const order = shuffled(chatIds(), seed);
  const share = Math.floor(order.length / connections);
  let client = 0;
  const awake = stayAwake();
  const result = await autocannon({
    url,
    connections,
    ...extent,
    headers: { authorization: `Bearer ${apiKey}` },
    setupClient: (connection) => {
      const own = order.slice(client * share, (client + 1) * share);
      client++;
      connection.setRequests(requestsOf[kind](own));
    },
  });
  awake.end();
  return {
    requests: result["2xx"],
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.errors + result.timeouts + result.non2xx,
  };
};

const singleRequest = (chatId: string): PlannedRequest => ({
  method: "GET",
  path: `/v2/chat?chatId=${chatId}`,
});

let nextKey = 0;

const spreadRequest = (chatId: string): PlannedRequest => {
  const key = nextKey++ % keyCount;
  const headers = { authorization: `Bearer ${keyOf(key).token}`, "x-forwarded-for": addressOf(key) };
  return { ...singleRequest(chatId), headers };
};

const bulkRequests = (ids: ReadonlyArray<string>): ReadonlyArray<PlannedRequest> =>
  Array.from({ length: Math.floor(ids.length / bulkSize) }, (_, i) => ({
    method: "POST",
    path: "/v2/chat/bulk",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chatIds: ids.slice(i * bulkSize, (i + 1) * bulkSize) }),
  }));

const requestsOf: Readonly<
  Record<DriveKind, (chatIds: ReadonlyArray<string>) => ReadonlyArray<PlannedRequest>>
> = {
  single: (ids) => ids.map(singleRequest),
  bulk: bulkRequests,
  spread: (ids) => ids.map(spreadRequest),
};

/**
 * Asks as often as it is told, however long the answers take, and at random: as many clients do who know nothing of each
 * other.
 */
const drivePaced = async (
  url: string,
  requests: ReadonlyArray<PlannedRequest>,
  { rate, duration }: { readonly rate: number; readonly duration: number },
): Promise<Drive> => {
  // A connection that is idle is given up before the server does that.
  const agent = new Agent({ keepAlive: true, timeout: 2_000 });
  const latencies: Array<number> = [];
  let failed = 0;
  const send = async ({ method, path, headers, body }: PlannedRequest) => {
    const begun = performance.now();
    const signal = AbortSignal.timeout(patience);
    const options = { method, agent, signal, headers: { authorization: `Bearer ${apiKey}`, ...headers } };
    try {
      const outgoing = request(`${url}${path}`, options).end(body);
      const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
      if (answer.statusCode !== 200) failed++;
      await once(answer.resume(), "end");
      latencies.push(performance.now() - begun);
    } catch {
      failed++;
    }
  };

  const started = performance.now();
  const sent: Array<Promise<unknown>> = [];
  let dueAt = started;
  while (dueAt < started + duration * 1_000) {
    for (const now = performance.now(); dueAt <= now; dueAt -= (Math.log(1 - Math.random()) * 1_000) / rate) {
      sent.push(send(requests[sent.length % requests.length] as PlannedRequest));
    }
    await new Promise(setImmediate);
  }
  await Promise.all(sent);
  agent.destroy();
  latencies.sort((one, other) => one - other);
  const at = (part: number) => Number(latencies[Math.floor(part * latencies.length)]?.toFixed(1));
  return { requests: sent.length - failed, seconds: duration, p50: at(0.5), p99: at(0.99), failed };
};

/**
 * Keeps this process from sleeping between two answers. To wake a sleeping processor is work for whoever sends, on a
 * virtual machine as much as a small answer: the slower server would find the generator asleep more often, and pay it.
 */
const stayAwake = () => {
  let next = setImmediate(function again() {
    next = setImmediate(again);
  });
  return { end: () => clearImmediate(next) };
};

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      amount: { type: "string" },
      duration: { type: "string" },
      kind: { type: "string", default: "single" },
      rate: { type: "string" },
    },
  });
  const [url = "", seed] = positionals;
  const kind = values.kind as DriveKind;
  const duration = Number(values.duration);
  const extent = values.amount === undefined ? { duration } : { amount: Number(values.amount) };
  const driven =
    values.rate === undefined
      ? drive(url, Number(seed), extent, kind)
      : drivePaced(url, requestsOf[kind](shuffled(chatIds(), Number(seed))), {
          rate: Number(values.rate),
          duration,
        });
  console.log(JSON.stringify(await driven));
}
