/**
 * The load generator, in a process of its own. Prints a `Drive` as JSON.
 *
 * Usage: `node drive.ts URL SEED (--amount=REQUESTS | --duration=SECONDS) [--kind=single|bulk]`
 */
import { parseArgs } from "node:util";
import autocannon, { type Extent, type PlannedRequest } from "autocannon";
import { apiKey, chatIds, shuffled } from "./workload.ts";

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

/** A look-up of one chat user, or of 50 at once. */
export type DriveKind = "single" | "bulk";

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
      connection.setRequests(kind === "bulk" ? bulkRequests(own) : own.map(singleRequest));
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

const bulkRequests = (ids: ReadonlyArray<string>): ReadonlyArray<PlannedRequest> =>
  Array.from({ length: Math.floor(ids.length / bulkSize) }, (_, i) => ({
    method: "POST",
    path: "/v2/chat/bulk",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chatIds: ids.slice(i * bulkSize, (i + 1) * bulkSize) }),
  }));

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
    },
  });
  const [url = "", seed] = positionals;
  const extent =
    values.amount === undefined ? { duration: Number(values.duration) } : { amount: Number(values.amount) };
  console.log(JSON.stringify(await drive(url, Number(seed), extent, values.kind as DriveKind)));
}
