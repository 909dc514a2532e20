/** The application as a listener of Node's HTTP server, standalone or under a framework such as Express or Fastify. */
import type { PublicError } from "@accountlink/core";
import { ByteSize, Effect, Exit, type Fiber, FiberSet, Stream } from "effect";
import {
  BodyTooLarge,
  type HttpApp,
  type HttpRequest,
  type HttpResponse,
  isStream,
  type ResponseStream,
  urlOfTarget,
} from "../http_app.ts";
import { makeRun } from "../run_requests.ts";

export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The URL as the client sent it; frameworks remove their own prefix from `url`. */
  readonly originalUrl?: string | undefined;
  /** The bytes of a body that a body parser has already read. */
  readonly rawBody?: Uint8Array | undefined;
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined };
  /** Whether the whole request has been received. */
  readonly complete?: boolean;
  readonly readableEnded: boolean;
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly pause: () => unknown;
  readonly resume: () => unknown;
  readonly read: () => Uint8Array | null;
  readonly on: (event: "data" | "end" | "readable", listener: (chunk: Uint8Array) => void) => unknown;
  readonly off: (event: "data" | "end" | "readable", listener: (chunk: Uint8Array) => void) => unknown;
}

export interface NodeResponse {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  shouldKeepAlive: boolean;
  readonly writeContinue: () => void;
  readonly writeHead: (status: number, headers: Record<string, string | Array<string>>) => unknown;
  readonly write: (chunk: Uint8Array) => boolean;
  readonly end: (body?: string | Uint8Array | null) => unknown;
  readonly destroy: () => unknown;
  readonly once: (event: "close" | "drain", listener: () => void) => unknown;
}

/** A listener for the events `request` and `checkContinue` of Node's HTTP server. */
export type NodeListener = (
  request: NodeRequest,
  response: NodeResponse,
  options?: NodeListenerOptions,
) => void;

/** Facts about a request that only the server knows. */
export interface NodeListenerOptions {
  /** The error with which the request is refused before routing; null or left out if it is not refused. */
  readonly refusal?: PublicError | null;
  /** Whether the client waits for the status 100 before it sends the body, as in Node's event `checkContinue`. */
  readonly expectsContinue?: boolean;
  /** The client's IP address, if it differs from the socket's address. */
  readonly clientAddress?: string | undefined;
  /** Called once the request is known not to count against the limits of its address. */
  readonly onUncounted?: () => void;
  /** Goes on with the request, whose body has arrived, when it is its turn; at once if left out. */
  readonly goOn?: (run: () => void) => void;
}

/**
 * Makes the listener. Requests in flight are interrupted when the scope closes.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { type HttpApp, HttpResponse, type NodeListener } from "@accountlink/http";
 * import { Effect } from "effect";
 *
 * const hello = Effect.succeed(new HttpResponse(200, {}, "Hello"));
 * const app: HttpApp = { answer: () => hello, refuse: () => hello };
 * const serving = Effect.gen(function* () {
 *   const listener: NodeListener = yield* makeNodeListener(app);
 *   const server = createServer(listener);
 *   return server.listenerCount("request");
 * });
 * await Effect.runPromise(Effect.scoped(serving)); // 1
 * ```
 */
export const makeNodeListener = Effect.fnUntraced(function* (app: HttpApp) {
  const running = yield* FiberSet.make();
  const run = makeRun(yield* Effect.context());
  // The callbacks of Node run outside of fibers, so they poll and interrupt fibers directly (`pollUnsafe`).

  const interruptOnClose = (response: NodeResponse, fiber: Fiber.Fiber<unknown>): void => {
    if (fiber.pollUnsafe() !== undefined) return;
    FiberSet.addUnsafe(running, fiber);
    response.once("close", () => fiber.interruptUnsafe());
  };

  const send = (exchange: NodeExchange, exit: Exit.Exit<HttpResponse>): void => {
    const { outgoing } = exchange;
    // A failure means that the fiber was interrupted, because the client has left or the server stops.
    if (Exit.isFailure(exit)) return void outgoing.destroy();
    const { body } = exit.value;
    if (!isStream(body)) return exchange.send(exit.value, body);
    const isRead = exchange.sendHead(exit.value) && exchange.method !== "HEAD";
    const written = isRead ? writeChunks(body, outgoing) : Effect.sync(() => outgoing.end());
    interruptOnClose(outgoing, run(Effect.ensuring(written, body.release)));
  };

  const listener: NodeListener = (incoming, outgoing, options = {}) => {
    const exchange = new NodeExchange(incoming, outgoing, options);
    const { refusal = null } = options;
    const fiber = run(refusal === null ? app.answer(exchange) : app.refuse(exchange, refusal));
    fiber.addObserver((exit) => send(exchange, exit));
    interruptOnClose(outgoing, fiber);
  };
  return listener;
});

class NodeExchange implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly outgoing: NodeResponse;
  readonly #incoming: NodeRequest;
  readonly #options: NodeListenerOptions;
  #awaitsContinue: boolean;

  constructor(incoming: NodeRequest, outgoing: NodeResponse, options: NodeListenerOptions) {
    this.method = incoming.method as string;
    this.url = urlOfTarget(incoming.originalUrl ?? (incoming.url as string));
    this.outgoing = outgoing;
    this.#incoming = incoming;
    this.#options = options;
    this.#awaitsContinue = options.expectsContinue === true;
  }

  get remoteAddress(): string | undefined {
    return this.#options.clientAddress ?? this.#incoming.socket.remoteAddress;
  }

  get hasArrived(): boolean {
    return this.#incoming.complete === true;
  }

  noteUncounted(): void {
    this.#options.onUncounted?.();
  }

  header(name: string): string | undefined {
    return this.#incoming.headers[name] as string | undefined;
  }

  readBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge> {
    return Effect.suspend(
      () => this.#knownBody(maxBytes) ?? readChunks(this.#incoming, maxBytes, this.#options.goOn),
    );
  }

  streamBody(maxBytes: number): Stream.Stream<Uint8Array, BodyTooLarge> {
    return Stream.suspend(() => {
      const known = this.#knownBody(maxBytes);
      return known === null ? streamChunks(this.#incoming, maxBytes) : Stream.fromEffect(known);
    });
  }

  /**
   * Returns the body if it is empty or was read before, or the error if the body is refused unread. Otherwise returns
   * null, and tells a client that waits for the status 100 to send the body.
   */
  #knownBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge> | null {
    const incoming = this.#incoming;
    const length = Number(incoming.headers["content-length"] ?? 0);
    if (length === 0 && incoming.headers["transfer-encoding"] === undefined) return Effect.succeed(noBytes);
    if (length > maxBytes) return tooLarge;
    if (incoming.readableEnded) return bytesReadBefore(incoming, maxBytes);
    if (this.#awaitsContinue) this.outgoing.writeContinue();
    this.#awaitsContinue = false;
    return null;
  }

  send(response: HttpResponse, body: string | Uint8Array | null): void {
    const length = hasLength(response.status) ? byteLength(body) : null;
    if (this.sendHead(response, length)) this.outgoing.end(this.method === "HEAD" ? undefined : body);
    else this.outgoing.end();
  }

  /** Sends the head. Returns false if the body must not follow: the client disconnected, or a header is invalid. */
  sendHead({ status, headers }: HttpResponse, length: number | null = null): boolean {
    const { outgoing } = this;
    if (outgoing.destroyed) return false;
    // A client that waits for the status 100 may send its body after this response or leave it out.
    if (this.#awaitsContinue) outgoing.shouldKeepAlive = false;
    // Discards a body that no handler reads, so that the connection can be reused.
    this.#incoming.resume();
    const all: Record<string, string | Array<string>> = { ...(headers as Record<string, string>) };
    if (length !== null) all["content-length"] = String(length);
    try {
      outgoing.writeHead(status, all);
      return true;
    } catch {
      outgoing.writeHead(500, { "content-length": "0" });
      return false;
    }
  }
}

// This package is compiled without the types of Node.
const { Buffer: buffer } = globalThis as unknown as {
  readonly Buffer: { readonly byteLength: (text: string) => number };
};

const noBytes = new Uint8Array();

const tooLarge = Effect.fail(new BodyTooLarge());

const bytesReadBefore = (
  { rawBody }: NodeRequest,
  maxBytes: number,
): Effect.Effect<Uint8Array, BodyTooLarge> => {
  if (rawBody === undefined) {
    const expected = "expected the listener before body parsers, or the bytes as rawBody";
    return Effect.die(new Error(`Cannot read the body: it was read before, ${expected}`));
  }
  return rawBody.length > maxBytes ? tooLarge : Effect.succeed(rawBody);
};

/** Reads the whole body in chunks. If the connection closes before the end of the body, the fiber is interrupted. */
const readChunks = (
  incoming: NodeRequest,
  maxBytes: number,
  goOn = (run: () => void) => run(),
): Effect.Effect<Uint8Array, BodyTooLarge> =>
  Effect.callback((resume) => {
    let body = noBytes;
    let size = 0;
    // Copies the bytes, since a chunk of one byte takes a hundred.
    const take = (chunk: Uint8Array) => {
      const end = size + chunk.length;
      if (end > maxBytes) {
        incoming.off("data", take);
        incoming.off("end", finish);
        incoming.pause();
        return resume(tooLarge);
      }
      if (end > body.length) {
        const larger = new Uint8Array(Math.min(maxBytes, Math.max(end, 2 * body.length)));
        larger.set(body);
        body = larger;
      }
      body.set(chunk, size);
      size = end;
    };
    const finish = () => goOn(() => resume(Effect.succeed(body.subarray(0, size))));
    incoming.on("data", take);
    incoming.on("end", finish);
  });

/** Reads what has arrived, in one piece, only after the previous piece was consumed. */
const streamChunks = (incoming: NodeRequest, maxBytes: number): Stream.Stream<Uint8Array, BodyTooLarge> => {
  const next = Effect.callback<Uint8Array | null>((resume) => {
    if (incoming.readableEnded) return resume(Effect.succeed(null));
    const stop = () => {
      incoming.off("readable", take);
      incoming.off("end", finish);
    };
    const finish = () => {
      stop();
      resume(Effect.succeed(null));
    };
    const take = () => {
      const arrived = incoming.read();
      if (arrived === null) return;
      stop();
      resume(Effect.succeed(arrived));
    };
    incoming.on("readable", take);
    incoming.on("end", finish);
    return Effect.sync(stop);
  });
  return Stream.unfold(null, () =>
    Effect.map(next, (chunk) => (chunk === null ? undefined : ([chunk, null] as const))),
  ).pipe(Stream.limitBytes(ByteSize.bytes(maxBytes), () => Stream.fail(new BodyTooLarge())));
};

const byteLength = (body: string | Uint8Array | null): number => {
  if (body === null) return 0;
  return typeof body === "string" ? buffer.byteLength(body) : body.length;
};

const hasLength = (status: number): boolean => status !== 204 && status !== 304;

const writeChunks = ({ chunks }: ResponseStream, outgoing: NodeResponse): Effect.Effect<void> =>
  Effect.andThen(
    Stream.runForEach(chunks, (chunk) =>
      Effect.callback<void>((resume) => {
        if (outgoing.write(chunk)) return resume(Effect.void);
        outgoing.once("drain", () => resume(Effect.void));
      }),
    ),
    Effect.sync(() => outgoing.end()),
    // Without this, the client of a failed stream would wait for the rest.
  ).pipe(Effect.onError(() => Effect.sync(() => outgoing.destroy())));
