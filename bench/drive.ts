/**
 * The load generator, a process of its own: it drives a server by each `DrivePlan` that it is sent, and answers with a
 * `Drive`. Its clients are sockets that ask again once they were answered, or, at a rate, when the next request is due:
 * then the latency counts from there, however late the request was sent.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { apiKey, generator, shuffled } from "./fixture.ts";
import { pid } from "./peers/keys.ts";
import { openPool, setGame } from "./peers/shared.ts";
import { bytesOf, changedLink, driven as workloads } from "./workloads.ts";

export interface DrivePlan {
  readonly url: string;
  readonly work: keyof typeof workloads;
  readonly connections: number;
  /** Requests per second, at random as of many clients who know nothing of each other; null for as many as go. */
  readonly rate: number | null;
  /** When to end: after requests or seconds. */
  readonly until: { readonly requests: number } | { readonly seconds: number };
  readonly seed: number;
}

/** What one drive came to. */
export interface Drive {
  readonly requests: number;
  /** How long it took, in seconds. */
  readonly seconds: number;
  /** Latency in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Requests with another status than expected. A drive with any measures nothing. */
  readonly failed: number;
}

/** Sends requests on one connection, one at a time. */
class Client {
  readonly #socket: Socket;
  #received = "";
  #onAnswer: (status: number) => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket
      .setNoDelay()
      .on("data", (chunk: Buffer) => this.#receive(chunk.toString("latin1")))
      .once("end", () => {
        throw new Error(`Cannot drive: a connection was closed, after ${JSON.stringify(this.#received)}`);
      });
  }

  send(bytes: string, onAnswer: (status: number) => void) {
    this.#onAnswer = onAnswer;
    this.#socket.write(bytes, "latin1");
  }

  close() {
    this.#socket.destroy();
  }

  #receive(chunk: string) {
    const received = this.#received + chunk;
    if (!isWhole(received)) {
      this.#received = received;
      return;
    }
    this.#received = "";
    this.#onAnswer(Number(received.slice(9, 12)));
  }
}

const isWhole = (received: string): boolean => {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  return length === undefined
    ? received.endsWith("\r\n0\r\n\r\n")
    : received.length >= headEnd + 4 + Number(length);
};

const openClients = (url: string, count: number): Promise<ReadonlyArray<Client>> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      await once(socket, "connect");
      return new Client(socket);
    }),
  );

const drive = async ({ url, work, connections, rate, until, seed }: DrivePlan): Promise<Drive> => {
  const { subjects, request, status: expected } = workloads[work];
  const order = shuffled([...Array(subjects).keys()], seed);
  const clients = await openClients(url, connections);
  const latencies: Array<number> = [];
  let turn = 0;
  let failed = 0;
  const started = performance.now();
  const isOver = () =>
    "requests" in until ? turn >= until.requests : performance.now() >= started + until.seconds * 1_000;

  const ask = (client: Client, due: number, then: () => void) => {
    const bytes = bytesOf(request(order[turn % subjects] as number, turn));
    turn++;
    client.send(bytes, (status) => {
      latencies.push(performance.now() - due);
      if (status !== expected) failed++;
      then();
    });
  };

  const awake = stayAwake();
  await (rate === null
    ? askInTurn(clients, ask, isOver)
    : askWhenDue(clients, ask, isOver, arrivals(rate, seed)));
  const seconds = (performance.now() - started) / 1_000;
  awake.end();
  for (const client of clients) client.close();
  return { requests: latencies.length - failed, seconds, failed, ...percentiles(latencies) };
};

type Ask = (client: Client, due: number, then: () => void) => void;

/** Each client asks again once it was answered. */
const askInTurn = (clients: ReadonlyArray<Client>, ask: Ask, isOver: () => boolean): Promise<unknown> =>
  Promise.all(
    clients.map(
      (client) =>
        new Promise<void>((resolve) => {
          const next = () => (isOver() ? resolve() : ask(client, performance.now(), next));
          next();
        }),
    ),
  );

/** Any free client asks when a request is due; while there is none, the request waits. */
const askWhenDue = async (
  clients: ReadonlyArray<Client>,
  ask: Ask,
  isOver: () => boolean,
  untilNext: () => number,
): Promise<void> => {
  const free = [...clients];
  const waiting: Array<number> = [];
  const serve = () => {
    while (free.length > 0 && waiting.length > 0) {
      const client = free.pop() as Client;
      ask(client, waiting.shift() as number, () => {
        free.push(client);
        serve();
      });
    }
  };
  for (let due = performance.now(); !isOver(); await new Promise(setImmediate)) {
    for (const now = performance.now(); due <= now; due += untilNext()) waiting.push(due);
    serve();
  }
  while (free.length < clients.length) await new Promise(setImmediate);
};

/** The writes of `PATCH /v2/game` without a server: the transaction alone, through the driver. */
const driveTransactions = async ({ url, connections, until, seed }: DrivePlan): Promise<Drive> => {
  const { subjects } = workloads.patch;
  const order = shuffled([...Array(subjects).keys()], seed);
  const pool = openPool(url);
  const latencies: Array<number> = [];
  const keyId = apiKey.slice(4, 16);
  const requestId = `req_${"0".repeat(26)}`;
  let turn = 0;
  const started = performance.now();
  const isOver = () =>
    "requests" in until ? turn >= until.requests : performance.now() >= started + until.seconds * 1_000;
  const write = async () => {
    while (!isOver()) {
      const link = changedLink(order[turn % subjects] as number, turn);
      turn++;
      const sent = performance.now();
      await setGame(pool, { pid, keyId, requestId, now: Date.now(), ...link });
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: connections }, write));
  const seconds = (performance.now() - started) / 1_000;
  await pool.end();
  return { requests: latencies.length, seconds, failed: 0, ...percentiles(latencies) };
};

/** The times between requests, in milliseconds. */
const arrivals = (rate: number, seed: number): (() => number) => {
  const random = generator(seed);
  return () => (-Math.log(1 - random()) * 1_000) / rate;
};

export const percentiles = (latencies: ReadonlyArray<number>): Pick<Drive, "p50" | "p99"> => {
  const sorted = Float64Array.from(latencies).toSorted();
  const at = (part: number) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
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

process.on("message", (plan: DrivePlan) => {
  const driven = plan.url.startsWith("postgres") ? driveTransactions(plan) : drive(plan);
  void driven.then((result) => process.send?.(result));
});
