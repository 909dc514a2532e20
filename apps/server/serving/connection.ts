/** A connection of the HTTP server: its unanswered requests, and how its bytes reach Node's parser. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type ClientAddress, inAny, parseAddress } from "@accountlink/core/addresses";
import { bounds } from "@accountlink/core/turns";
import { Option } from "effect";
import type { IpNetwork } from "effect/net";

/** Node's HTTP server keeps here whether it has paused the socket. */
type PausedByNode = Socket & { readonly _paused?: boolean };

/** Bounds the time for chunked bodies, since a chunk of one byte takes the parser as long as a large one. */
export interface ChunkTime {
  /** How long the parser still reads them in this turn, in milliseconds. */
  left: number;
  /** Lets a connection wait for the time of a later turn. */
  readonly wait: (connection: Connection) => void;
}

interface Entered {
  readonly response: ServerResponse;
  readonly hasBody: boolean;
  /** Whether the request arrived before the previous answer of its connection was sent. */
  readonly isPipelined: boolean;
  readonly start: () => void;
}

export class Connection {
  readonly socket: Socket;
  /** The trusted proxy that opened the connection and sends requests of many clients; null for a client. */
  readonly proxy: ClientAddress | null;
  /** The client address; null for a proxy. */
  readonly address: string | null;
  /** The unanswered requests, in order. The first `started` of them have started. */
  readonly entered: Array<Entered> = [];
  started = 0;
  /** Whether the connection waits for its turn, or for the next window of its address. */
  isQueued = false;
  /** Whether the socket is paused because requests wait. */
  isPaused = false;
  /** Whether the next bytes were kept back. */
  isBehind = false;
  /** Whether the bytes that are being parsed were kept back, so that their requests arrived before the previous answer. */
  isPipelined = false;
  /** Whether requests of the connection do not count against the limits of its address. */
  isUncounted = false;
  isNew = true;
  /** The turn in which the last request arrived. */
  #lastTurn: number | null = null;
  /** The bytes that are being parsed in pieces. */
  chunk: Buffer | undefined;
  /** How many of the next bytes belong to a body, at most. */
  #bodySize = 0;
  /** Whether the next bytes may belong to a chunked body. */
  isChunked = false;
  /** Whether the rest of a chunked body waits for its time. */
  #isLate = false;

  constructor(socket: Socket, proxies: ReadonlyArray<IpNetwork.IpNetwork>) {
    const address = Option.getOrNull(parseAddress(socket.remoteAddress ?? ""));
    this.socket = socket;
    this.proxy = address !== null && inAny(proxies, address) ? address : null;
    this.address = this.proxy === null ? (address?.countedAs ?? null) : null;
  }

  get hasWaiting(): boolean {
    return this.entered.length > this.started;
  }

  /** Whether the next request that starts is one of several that arrived before the previous answer. */
  get isPipelining(): boolean {
    return this.entered.length > 1 || this.entered[this.started]?.isPipelined === true;
  }

  /** Whether no further request may start. Otherwise the bodies of 16 requests would be in memory before one is read. */
  get isFull(): boolean {
    return this.started >= bounds.requestsInFlight || this.entered[this.started - 1]?.hasBody === true;
  }

  /** Adds a request. */
  enter({ headers }: IncomingMessage, response: ServerResponse, start: () => void, turn: number): Entered {
    this.#bodySize = Number(headers["content-length"] ?? 0);
    this.isChunked = headers["transfer-encoding"] !== undefined;
    const hasBody = this.#bodySize > 0 || this.isChunked;
    // No client reads an answer and sends its next request within one turn.
    const isPipelined = this.isPipelined || this.entered.length > 0 || this.#lastTurn === turn;
    this.#lastTurn = turn;
    const entered = { response, hasBody, isPipelined, start };
    this.entered.push(entered);
    return entered;
  }

  /** Removes a request that was answered, if its client has not left before. */
  leave(entered: Entered): void {
    const index = this.entered.indexOf(entered);
    if (index === -1) return;
    this.entered.splice(index, 1);
    if (index < this.started) this.started--;
  }

  readOn(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.isBehind = true;
    this.#resume();
  }

  /** Reads on after `ChunkTime.wait`. */
  readBody(): void {
    if (!this.#isLate) return;
    this.#isLate = false;
    this.#resume();
  }

  #resume(): void {
    // Node ends the process if a socket is read that Node has paused because its client does not read the answers. Node
    // resumes this socket itself.
    if (!(this.socket as PausedByNode)._paused) this.socket.resume();
  }

  startNext(): void {
    const next = this.entered[this.started];
    if (next === undefined) return;
    this.started++;
    this.isNew = false;
    next.start();
  }

  /** Reads the socket from now on in place of Node's parser, which gets the bytes in pieces. */
  readInPieces(time: ChunkTime): void {
    const { socket } = this;
    const [parse] = socket.listeners("data") as Array<(piece: Buffer) => void>;
    if (parse === undefined) return;
    // The parser may have read the beginning of a body.
    this.#bodySize = 0;
    socket.off("data", parse);
    socket.on("data", (chunk: Buffer) => this.#read(chunk, parse, time));
    // The parser may have stopped reading, because a body is not read. Without a push, the stream would wait for the
    // parser.
    socket.push("");
  }

  /** Feeds the parser until requests wait, or chunks. The rest of the bytes goes back to the socket, which is paused. */
  #read(chunk: Buffer, parse: (piece: Buffer) => void, time: ChunkTime): void {
    const { socket } = this;
    // A connection that made requests wait takes turns until all its bytes are read.
    this.isPipelined = this.isBehind;
    this.isBehind = false;
    this.chunk = chunk;
    for (let from = 0; from < chunk.length && !socket.destroyed; ) {
      const isOver = this.isChunked && time.left <= 0;
      // Node pauses the socket if its client does not read the answers, or if nobody reads the body.
      if (this.hasWaiting || isOver || (from > 0 && socket.isPaused())) {
        this.isPaused ||= this.hasWaiting;
        socket.pause();
        socket.unshift(chunk.subarray(from));
        if (isOver && !this.#isLate) time.wait(this);
        this.#isLate = isOver;
        break;
      }
      this.#isLate = false;
      const piece = chunk.subarray(from, from + Math.max(bounds.pieceSize, this.#bodySize));
      this.#bodySize = Math.max(0, this.#bodySize - piece.length);
      const began = this.isChunked ? performance.now() : 0;
      parse.call(socket, piece);
      if (began > 0) time.left -= performance.now() - began;
      from += piece.length;
    }
    this.chunk = undefined;
  }
}
