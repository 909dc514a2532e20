/**
 * Bounds what connections and client addresses may have open and unread, so that none delays the requests of others:
 *
 * - A connection's only request starts at once. Others wait for their turn, in which each connection starts one, or as
 *   many as it may have in flight if no other connection waits. While requests of a connection wait, it is not read.
 * - After a request with a body, none of its connection starts until it is answered.
 * - Once a client pipelines, the bytes of all connections reach the parser in pieces.
 * - Of an address, more requests start in a second than its limits allow, so that its clients read when to come again.
 *   The rest waits for the next second, unread.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { inAny, parseAddress } from "@accountlink/core/addresses";
import { bounds } from "@accountlink/core/turns";
import { Option } from "effect";
import type { Config } from "../config/config.ts";
import { Connection, type Turn } from "./connection.ts";

/** The requests of an address in the current second, and its connections that wait for the next second. */
interface Sender {
  started: number;
  held: Array<Connection>;
}

export class RequestTurns {
  readonly #config: Config;
  /** How many requests of a client address start in a second: alone, and before the previous answer was sent. */
  readonly #perSecond: readonly [alone: number, pipelined: number];
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #senders = new Map<string, Sender>();
  /** The connections that Node's parser reads itself. */
  readonly #unwatched = new Set<Connection>();
  #watchedUntil = 0;
  /** Connections whose only request waits. They come first: their clients wait for one answer before they go on. */
  #single: Array<Connection> = [];
  /** Connections that wait with requests which arrived before the previous answer. */
  #pipelined: Array<Connection> = [];
  /** Requests whose bodies have arrived. The bodies of all connections can arrive at once. */
  #arrived: Array<() => void> = [];
  #isScheduled = false;
  #turnEnded = 0;
  /** Whether a connection was accepted since the last turn. */
  #hasAccepted = false;
  /** When the first request of this round of the event loop arrived; null before. */
  #roundBegan: number | null = null;

  constructor(server: Server, config: Config) {
    const { ACCOUNTLINK_IP_PER_SECOND: requests, ACCOUNTLINK_IP_PAGES_PER_SECOND: pages } = config;
    const times = requests > 0 && pages > 0 ? bounds.startedOverLimit : Infinity;
    this.#config = config;
    this.#perSecond = [times * Math.max(requests, pages), times * requests];
    server.on("connection", (socket) => this.#open(socket));
  }

  /** Starts a request now or when it is its turn. */
  enter(request: IncomingMessage, response: ServerResponse, start: (turn: Turn) => void): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return;
    const round = this.#beginRound();
    const isPipelined = connection.enter(request, response, start, round);
    response.once("close", () => {
      if (connection.leave(response)) this.#dequeued(connection, connection.isQueued);
    });
    if (isPipelined) this.#watch();
    const hasTime = !this.#hasAccepted && performance.now() - round <= bounds.startTime;
    if (!isPipelined && hasTime && this.#count(connection)) connection.startNext();
    else this.#enqueue(connection);
  }

  /** Returns the response that a connection sends next, if a request waits for one. */
  nextResponse(socket: Socket): ServerResponse | undefined {
    return this.#connections.get(socket)?.entered[0]?.response;
  }

  /** Returns the bytes of which the parser got a piece that it refused. */
  chunkOf(socket: Socket): Buffer | undefined {
    return this.#connections.get(socket)?.chunk;
  }

  #open(socket: Socket): void {
    this.#hasAccepted = true;
    this.#schedule();
    const address = Option.getOrUndefined(parseAddress(socket.remoteAddress ?? ""));
    // Connections of proxies carry requests of many clients, so they belong to no address.
    const isProxy = address !== undefined && inAny(this.#config.ACCOUNTLINK_TRUSTED_PROXIES, address);
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
    this.#watchedUntil = performance.now() + bounds.watchTime;
    for (const connection of this.#unwatched) connection.readInPieces();
    this.#unwatched.clear();
  }

  /** Returns when the first request of this round of the event loop arrived. */
  #beginRound(): number {
    if (this.#roundBegan !== null) return this.#roundBegan;
    setImmediate(() => {
      this.#roundBegan = null;
    });
    return (this.#roundBegan = performance.now());
  }

  /** Counts a request that starts against its address. Returns false if it has to wait for the next second. */
  #count({ address, isUncounted, isNew, isPipelining }: Connection): boolean {
    const most = this.#perSecond[isPipelining ? 1 : 0];
    if (address === null || isUncounted || most === Infinity) return true;
    const sender = this.#senderAt(address);
    // The first request may have a key that does not count.
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
    }, 1_000).unref();
    return sender;
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

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#takeTurn());
  }

  #takeTurn(): void {
    this.#isScheduled = false;
    const isAccepting = this.#hasAccepted;
    this.#hasAccepted = false;
    const sinceLast = performance.now() - this.#turnEnded;
    // Node accepts one connection in a round of the event loop.
    if (isAccepting && sinceLast < bounds.longestTurn) return this.#schedule();
    const { startTime, longestTurn } = bounds;
    const [arrived, single, pipelined] = [this.#arrived, this.#single, this.#pipelined];
    [this.#arrived, this.#single, this.#pipelined] = [[], [], []];
    const most = single.length + pipelined.length === 1 ? Number.POSITIVE_INFINITY : 1;
    const start = (connection: Connection) => this.#startFrom(connection, most);
    const goingOn = forSomeTime(startTime, arrived, (goOn) => goOn());
    // As long as other work took since the last turn. Otherwise a request behind four others would wait for it five times.
    const alone = forSomeTime(Math.min(longestTurn, Math.max(startTime, sinceLast)), single, start);
    const behind = forSomeTime(startTime, pipelined, start);
    this.#arrived = [...goingOn, ...this.#arrived];
    this.#single = [...alone, ...this.#single];
    this.#pipelined = [...behind, ...this.#pipelined];
    this.#turnEnded = performance.now();
    if (this.#single.length + this.#pipelined.length + this.#arrived.length > 0) this.#schedule();
  }

  /** Starts the next requests of a connection. */
  #startFrom(connection: Connection, most: number): void {
    for (let left = most; left > 0 && connection.hasWaiting && !connection.isFull; left--) {
      if (!this.#count(connection)) {
        this.#senderAt(connection.address as string).held.push(connection);
        return;
      }
      connection.startNext();
    }
    this.#dequeued(connection);
  }
}

/** Runs what waits for so many milliseconds, at least the first. Returns the rest. */
const forSomeTime = <A>(
  milliseconds: number,
  queue: ReadonlyArray<A>,
  run: (next: A) => void,
): ReadonlyArray<A> => {
  const end = performance.now() + milliseconds;
  for (const [index, next] of queue.entries()) {
    if (index > 0 && performance.now() > end) return queue.slice(index);
    run(next);
  }
  return [];
};
