/**
 * Bounds what connections and client addresses may have open and unread, so that none delays the requests of others:
 *
 * - Requests start after each round of the event loop: first the requests that are alone on their connection, then one
 *   connection after the other. While requests of a connection wait, it is not read.
 * - After a request with a body, none of its connection starts until it is answered.
 * - Once a client pipelines or sends chunks, the bytes of all connections reach the parser in pieces.
 * - The parser reads chunked bodies for a moment in a round, one connection after the other.
 * - Of an address, more requests start in a second than its limits allow, so that its clients read when to come again.
 *   The rest waits for the next second, unread.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { AddressRate, bounds } from "@accountlink/core/turns";
import type { NodeListenerOptions } from "@accountlink/http";
import type { Config } from "../config/config.ts";
import { type ChunkTime, Connection } from "./connection.ts";

/** What a request that starts needs to know of its turn. */
type Turn = Required<Pick<NodeListenerOptions, "onUncounted" | "goOn">>;

export class RequestTurns {
  readonly #config: Config;
  /** How many requests of a client address start in a second: alone, and before the previous answer was sent. */
  readonly #perSecond: readonly [alone: number, pipelined: number];
  readonly #starts = new AddressRate();
  readonly #connections = new WeakMap<Socket, Connection>();
  /** The connections that Node's parser reads itself. */
  readonly #unwatched = new Set<Connection>();
  #watchedUntil = 0;
  /** Connections whose only request waits. They come first: their clients wait for one answer before they go on. */
  readonly #single: Array<() => void> = [];
  /** Connections that wait with requests which arrived before the previous answer, and bodies of such requests. */
  readonly #pipelined: Array<() => void> = [];
  /** Connections that wait with the rest of a chunked body. */
  readonly #chunked: Array<Connection> = [];
  readonly #chunkTime: ChunkTime = {
    left: 0,
    wait: (connection) => {
      this.#chunked.push(connection);
      this.#schedule();
    },
  };
  #isScheduled = false;
  #turnEnded = 0;
  /** Whether a connection was accepted since the last turn. */
  #hasAccepted = false;
  /** How many turns there were. */
  #turn = 0;

  constructor(server: Server, config: Config) {
    const { ACCOUNTLINK_IP_PER_SECOND: requests, ACCOUNTLINK_IP_PAGES_PER_SECOND: pages } = config;
    const times = requests > 0 && pages > 0 ? bounds.startedOverLimit : Infinity;
    this.#config = config;
    this.#perSecond = [times * Math.max(requests, pages), times * requests];
    server.on("connection", (socket) => this.#open(socket));
  }

  /** Starts a request when it is its turn. */
  enter(request: IncomingMessage, response: ServerResponse, start: (turn: Turn) => void): void {
    const connection = this.connectionOf(request.socket);
    const onUncounted = () => void (connection.isUncounted = true);
    const goOn = (run: () => void) => {
      if (!connection.isPipelined && connection.entered.length === 1) return run();
      this.#pipelined.push(run);
      this.#schedule();
    };
    const entered = connection.enter(request, response, () => start({ onUncounted, goOn }), this.#turn);
    response.once("close", () => {
      connection.leave(entered);
      this.#goOn(connection);
    });
    if (entered.isPipelined || connection.isChunked) this.#watch();
    this.#goOn(connection);
  }

  connectionOf(socket: Socket): Connection {
    return this.#connections.get(socket) as Connection;
  }

  #open(socket: Socket): void {
    this.#hasAccepted = true;
    this.#schedule();
    const connection = new Connection(socket, this.#config.ACCOUNTLINK_TRUSTED_PROXIES);
    this.#connections.set(socket, connection);
    // Requests that still wait when the client disconnects never start.
    socket.once("close", () => {
      connection.entered.length = 0;
      connection.started = 0;
      this.#unwatched.delete(connection);
    });
    if (performance.now() < this.#watchedUntil) connection.readInPieces(this.#chunkTime);
    else this.#unwatched.add(connection);
  }

  #watch(): void {
    this.#watchedUntil = performance.now() + bounds.watchTime;
    for (const connection of this.#unwatched) connection.readInPieces(this.#chunkTime);
    this.#unwatched.clear();
  }

  /** Counts a request that starts against its address. Returns false if it has to wait. */
  #mayStart({ address, isUncounted, isNew, isPipelining }: Connection): boolean {
    const most = this.#perSecond[isPipelining ? 1 : 0];
    if (address === null || isUncounted || most === Infinity) return true;
    // The first request may have a key that does not count.
    return this.#starts.take(address, most, performance.now()) || isNew;
  }

  /** Lets a connection wait for its turn, or reads it on if none of its requests waits. */
  #goOn(connection: Connection): void {
    if (!connection.hasWaiting) return connection.readOn();
    if (connection.isQueued || connection.isFull) return;
    connection.isQueued = true;
    (connection.isPipelining ? this.#pipelined : this.#single).push(() => this.#startNextOf(connection));
    this.#schedule();
  }

  #startNextOf(connection: Connection): void {
    const goOn = () => {
      connection.isQueued = false;
      this.#goOn(connection);
    };
    if (connection.hasWaiting && !this.#mayStart(connection)) return void setTimeout(goOn, 1_000).unref();
    connection.startNext();
    goOn();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#takeTurn());
  }

  #takeTurn(): void {
    this.#isScheduled = false;
    this.#turn++;
    const isAccepting = this.#hasAccepted;
    this.#hasAccepted = false;
    const sinceLast = performance.now() - this.#turnEnded;
    const { startTime, longestTurn } = bounds;
    // Node accepts one connection in a round of the event loop.
    if (isAccepting && sinceLast < longestTurn) return this.#schedule();
    // As long as other work took since the last turn. Otherwise a request behind four others would wait for it five times.
    runFor(Math.min(longestTurn, Math.max(startTime, sinceLast)), this.#single);
    runFor(startTime, this.#pipelined);
    this.#chunkTime.left = startTime;
    this.#chunked.shift()?.readBody();
    this.#turnEnded = performance.now();
    if (this.#single.length + this.#pipelined.length + this.#chunked.length > 0) this.#schedule();
  }
}

/** Runs what waits for so many milliseconds, at least the first. */
const runFor = (milliseconds: number, queue: Array<() => void>): void => {
  const end = performance.now() + milliseconds;
  do queue.shift()?.();
  while (queue.length > 0 && performance.now() <= end);
};
