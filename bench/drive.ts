/**
 * The load generator, which runs in a process of its own. For each `DrivePlan` message, it sends requests to a server,
 * and then sends the results back as a `Drive` message. Autocannon is not used: it takes twice the processor time per
 * request, so it would be the bottleneck instead of the server.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { random, shuffled } from "./dataset.ts";
import { bytesOf, type Work, workloads } from "./workloads.ts";

export interface DrivePlan {
  readonly url: string;
  readonly work: Work;
  readonly connections: number;
  /**
   * How many requests are sent per second, at random times. The latency of a request counts from its planned time. If
   * null, each connection sends its next request as soon as the previous one is answered.
   */
  readonly rate: number | null;
  /** The drive ends after this many requests or seconds. */
  readonly until: { readonly requests: number } | { readonly seconds: number };
  readonly seed: number;
}

export interface Drive {
  readonly requests: number;
  readonly seconds: number;
  /** Latency in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Requests with an unexpected status; any of them makes the drive invalid. */
  readonly failed: number;
}

const isWhole = (received: string): boolean => {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  return length === undefined
    ? received.endsWith("\r\n0\r\n\r\n")
    : received.length >= headEnd + 4 + Number(length);
};

/** Sends requests on one connection, one at a time. */
const openClient = async (url: string) => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  await once(socket, "connect");
  let received = "";
  let onAnswer: ((status: number) => void) | null = null;
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    received += chunk;
    if (!isWhole(received)) return;
    const status = Number(received.slice(9, 12));
    received = "";
    onAnswer?.(status);
  });
  socket.once("end", () => {
    throw new Error(`Cannot drive: a connection was closed, after ${JSON.stringify(received)}`);
  });
  return {
    send: (bytes: string, then: (status: number) => void) => {
      onAnswer = then;
      socket.write(bytes, "latin1");
    },
    close: () => socket.destroy(),
  };
};

const drive = async ({ url, work, connections, rate, until, seed }: DrivePlan): Promise<Drive> => {
  const { subjects, request, status: expected } = workloads[work];
  const order = shuffled([...Array(subjects).keys()], seed);
  const chance = random(seed);
  const clients = await Promise.all(Array.from({ length: connections }, () => openClient(url)));
  const free = [...clients];
  /** The planned times of the requests that wait for a free connection. */
  const waiting: Array<number> = [];
  const latencies: Array<number> = [];
  let turn = 0;
  let failed = 0;
  const started = performance.now();
  const isOver = () =>
    "requests" in until ? turn >= until.requests : performance.now() >= started + until.seconds * 1_000;
  const ask = () => {
    while (free.length > 0 && (rate === null ? !isOver() : waiting.length > 0)) {
      const client = free.pop() as (typeof clients)[number];
      const due = waiting.shift() ?? performance.now();
      client.send(bytesOf(request(order[turn % subjects] as number, turn)), (status) => {
        latencies.push(performance.now() - due);
        if (status !== expected) failed++;
        free.push(client);
        ask();
      });
      turn++;
    }
  };
  // The loop never sleeps, since waking a sleeping generator would take processor time of the server.
  for (let due = started; !isOver() || free.length < clients.length; await new Promise(setImmediate)) {
    if (rate !== null && !isOver())
      for (const now = performance.now(); due <= now; due += (-Math.log(1 - chance()) * 1_000) / rate)
        waiting.push(due);
    ask();
  }
  const seconds = (performance.now() - started) / 1_000;
  for (const client of clients) client.close();
  const sorted = Float64Array.from(latencies).toSorted();
  const at = (part: number) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN;
  return { requests: latencies.length - failed, seconds, failed, p50: at(0.5), p99: at(0.99) };
};

process.on("message", (plan: DrivePlan) => void drive(plan).then((result) => process.send?.(result)));
