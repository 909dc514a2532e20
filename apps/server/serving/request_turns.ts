/** Decides when requests start, so that no connection and no client address delays the requests of others. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { parseAddress } from "@accountlink/core/addresses";
import { Option } from "effect";
import { IpNetwork } from "effect/net";
import type { Config } from "../config/config.ts";
import { Connection, type Turn } from "./connection.ts";

export interface TurnLimits {
  /** How many requests of a client address start in a second. */
  readonly perSecond: number;
  /** The same for requests that arrived before the previous answer of their connection was sent. */
  readonly pipelinedPerSecond: number;
  /** Connections of these networks carry requests of many clients, so they belong to no address. */
  readonly proxies: ReadonlyArray<IpNetwork.IpNetwork>;
}

/**
 * More requests start than the limits of an address allow, so that its clients get refusals with the time to wait. Only
 * requests of clients that go on without waiting are left unread.
 */
export const turnLimitsOf = (config: Config): TurnLimits => {
  const { ACCOUNTLINK_IP_PER_SECOND: requests, ACCOUNTLINK_IP_PAGES_PER_SECOND: pages } = config;
  const isLimited = requests > 0 && pages > 0;
  return {
    perSecond: isLimited ? Math.max(100, requests + pages) : Infinity,
    pipelinedPerSecond: isLimited ? 2 * requests : Infinity,
    proxies: config.ACCOUNTLINK_TRUSTED_PROXIES,
  };
};

/**
 * How long single requests that waited may take in one turn of the event loop, in milliseconds: as long as the other work
 * since the last turn, within these bounds; pipelined requests the shortest time. With the shortest time alone, a request
 * behind four others would wait four turns, of which each may have 20 milliseconds of other work.
 */
const [shortestTurn, longestTurn] = [1, 10];

/** How long requests that arrive alone may start in one turn of the event loop, in milliseconds. */
const arrivalTime = 2;

/**
 * How long requests wait while connections are accepted, in milliseconds. Node accepts one connection in a turn of the
 * event loop, so the last one of 50 waits for 50 turns.
 */
const acceptingTime = 20;

/** Milliseconds. */
const window = 1_000;

/**
 * How long all connections are read in pieces after a client has sent a request before its previous one was answered, in
 * milliseconds. Otherwise, Node's parser reads the sockets itself, which saves a tenth of a lookup's processor time.
 */
const watchTime = 60_000;

/** The requests of an address in the current second, and its connections that wait for the next second. */
interface Sender {
  started: number;
  held: Array<Connection>;
}

/**
 * The unanswered requests of each connection. A connection's only request starts at once. Others start in turns: at most
 * one of each connection in a turn of the event loop, or as many as may be in flight if no other connection waits. After
 * a request with a body, none starts until it is answered. A connection with waiting requests is not read.
 */
export class RequestTurns {
  readonly #limits: TurnLimits;
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #senders = new Map<string, Sender>();
  /** The connections that Node's parser reads itself. */
  readonly #unwatched = new Set<Connection>();
  #watchedUntil = 0;
  /** Connections whose only request waits. They come first: their clients wait for one answer before they go on. */
  #single: Array<Connection> = [];
  /** Connections that wait with requests which arrived before the previous answer. */
  #pipelined: Array<Connection> = [];
  /** Requests whose bodies have arrived and that go on in turns, since the bodies of all connections can arrive at once. */
  #arrived: Array<() => void> = [];
  #isScheduled = false;
  #turnEnded = 0;
  /** Whether a connection was accepted since the last turn. */
  #hasAccepted = false;
  /** When the first request of this turn of the event loop arrived; null before. */
  #turnBegan: number | null = null;

  constructor(server: Server, limits: TurnLimits) {
    this.#limits = limits;
    server.on("connection", (socket) => this.#open(socket));
  }

  /** Returns the response that a connection sends next, if a request waits for one. */
  nextResponse(socket: Socket): ServerResponse | undefined {
    return this.#connections.get(socket)?.entered[0]?.response;
  }

  /** Returns the bytes of which the parser got a piece that it refused. */
  chunkOf(socket: Socket): Buffer | undefined {
    return this.#connections.get(socket)?.chunk;
  }

  /** Starts a request now or when it is its turn. */
  enter(request: IncomingMessage, response: ServerResponse, start: (turn: Turn) => void): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return;
    const { "content-length": length, "transfer-encoding": encoding } = request.headers;
    connection.bodySize = Number(length ?? 0);
    const hasBody = connection.bodySize > 0 || encoding !== undefined;
    const isAlone = connection.entered.length === 0;
    const turn = this.#beginTurn();
    // No client reads an answer and sends its next request within one turn of the event loop.
    const isPipelined = connection.isPipelined || !isAlone || connection.lastTurn === turn;
    connection.lastTurn = turn;
    connection.entered.push({ response, hasBody, isPipelined, start: () => start(connection.turn) });
    response.once("close", () => this.#leave(connection, response));
    if (isPipelined) this.#watch();
    const hasTime = !this.#hasAccepted && performance.now() - turn <= arrivalTime;
    if (!isPipelined && hasTime && this.#count(connection)) connection.startNext();
    else this.#enqueue(connection);
  }

  #open(socket: Socket): void {
    this.#hasAccepted = true;
    this.#schedule();
    const address = Option.getOrUndefined(parseAddress(socket.remoteAddress ?? ""));
    const isProxy = this.#limits.proxies.some(
      (network) => address !== undefined && IpNetwork.contains(network, address.ip),
    );
    const connection = new Connection(socket, isProxy ? null : (address?.countedAs ?? null), (run) => {
      this.#arrived.push(run);
      this.#schedule();
    });
    this.#connections.set(socket, connection);
    // Requests that still wait when the client disconnects never start.
    socket.once("close", () => {
      connection.entered.length = 0;
      connection.started = 0;
      this.#unwatched.delete(connection);
    });
    if (performance.now() < this.#watchedUntil) connection.readInPieces();
    else this.#unwatched.add(connection);
  }

  #watch(): void {
    this.#watchedUntil = performance.now() + watchTime;
    for (const connection of this.#unwatched) connection.readInPieces();
    this.#unwatched.clear();
  }

  /** Returns when the first request of this turn of the event loop arrived. */
  #beginTurn(): number {
    if (this.#turnBegan !== null) return this.#turnBegan;
    setImmediate(() => {
      this.#turnBegan = null;
    });
    return (this.#turnBegan = performance.now());
  }

  /** Counts a request that starts against its address. Returns false if it has to wait for the next second. */
  #count({ address, isUncounted, isNew, isPipelining }: Connection): boolean {
    const { perSecond, pipelinedPerSecond } = this.#limits;
    if (address === null || isUncounted || perSecond === Infinity) return true;
    const sender = this.#senderAt(address);
    // The first request may have a key that does not count.
    const most = isPipelining ? pipelinedPerSecond : perSecond;
    if (sender.started >= most && !isNew) return false;
    sender.started++;
    return true;
  }

  #senderAt(address: string): Sender {
    const known = this.#senders.get(address);
    if (known !== undefined) return known;
    const sender: Sender = { started: 0, held: [] };
    this.#senders.set(address, sender);
    setTimeout(() => {
      this.#senders.delete(address);
      for (const connection of sender.held) this.#dequeued(connection);
    }, window).unref();
    return sender;
  }

  #leave(connection: Connection, response: ServerResponse): void {
    const index = connection.entered.findIndex((other) => other.response === response);
    if (index === -1) return;
    connection.entered.splice(index, 1);
    if (index < connection.started) connection.started--;
    this.#dequeued(connection, connection.isQueued);
  }

  #dequeued(connection: Connection, isQueued = false): void {
    connection.isQueued = isQueued;
    if (connection.hasWaiting) this.#enqueue(connection);
    else if (connection.isPaused) connection.readOn();
  }

  #enqueue(connection: Connection): void {
    if (connection.isQueued || connection.isFull) return;
    connection.isQueued = true;
    (connection.isPipelining ? this.#pipelined : this.#single).push(connection);
    this.#schedule();
  }

  #goOn(): void {
    const began = performance.now();
    while (this.#arrived.length > 0 && performance.now() - began <= shortestTurn) this.#arrived.shift()?.();
  }

  #takeTurn(): void {
    this.#isScheduled = false;
    const isAccepting = this.#hasAccepted;
    this.#hasAccepted = false;
    if (isAccepting && performance.now() - this.#turnEnded < acceptingTime) return this.#schedule();
    this.#goOn();
    const [single, pipelined] = [this.#single, this.#pipelined];
    [this.#single, this.#pipelined] = [[], []];
    const most = single.length + pipelined.length === 1 ? Number.POSITIVE_INFINITY : 1;
    const began = performance.now();
    const turnTime = Math.min(longestTurn, Math.max(shortestTurn, began - this.#turnEnded));
    this.#single = [...this.#startFirst(single, began + turnTime, most), ...this.#single];
    this.#pipelined = [...this.#startFirst(pipelined, began + shortestTurn, most), ...this.#pipelined];
    this.#turnEnded = performance.now();
    if (this.#single.length + this.#pipelined.length + this.#arrived.length > 0) this.#schedule();
  }

  /** Starts requests of each connection until a time, at least of the first one. Returns the connections that are left. */
  #startFirst(queue: ReadonlyArray<Connection>, end: number, most: number): ReadonlyArray<Connection> {
    for (const [index, connection] of queue.entries()) {
      if (index > 0 && performance.now() > end) return queue.slice(index);
      let isHeld = false;
      for (let left = most; left > 0 && !isHeld && connection.hasWaiting && !connection.isFull; left--) {
        isHeld = !this.#count(connection);
        if (!isHeld) connection.startNext();
      }
      if (isHeld) this.#senderAt(connection.address as string).held.push(connection);
      else this.#dequeued(connection);
    }
    return [];
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#takeTurn());
  }
}
