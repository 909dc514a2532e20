/**
 * Answers plain requests on Node's own event. All others go through Effect's HTTP server.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isTraced } from "@accountlink/core/telemetry";
import type { DirectRequest, DirectRequests } from "@accountlink/http";
import { Effect, Exit, Fiber } from "effect";
import type { HttpServerResponse } from "effect/http";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Puts direct requests before Effect's server, which has begun to serve. With tracing it answers
 * everything, since it makes the spans.
 *
 * @param isRefused whether a request is refused before routing
 */
export const answerDirectly = Effect.fnUntraced(function* (
  node: Server,
  answerOf: DirectRequests,
  isRefused: (request: IncomingMessage) => boolean,
) {
  if (yield* isTraced) return;
  const running = new RunningFibers();
  yield* Effect.addFinalizer(() => Fiber.interruptAll(running));
  const run = Effect.runForkWith(yield* Effect.context());
  const serve = node.listeners("request").at(-1) as Listener;

  const start = (found: NonNullable<ReturnType<DirectRequests>>, response: ServerResponse): void => {
    const fiber = run(found);
    const exit = fiber.pollUnsafe();
    if (exit !== undefined) return send(response, exit);
    running.add(fiber);
    fiber.addObserver((late) => send(response, late));
    response.once("close", () => fiber.interruptUnsafe());
  };

  const answer: Listener = (request, response) => {
    const isDirect = isPlain(request) && !isRefused(request);
    const found = isDirect ? answerOf(new NodeRequest(request), request.socket.remoteAddress) : undefined;
    if (found === undefined) serve(request, response);
    else if (request.headers["content-length"] === undefined) start(found, response);
    // By the next tick, Node has read a body that came with its head.
    else process.nextTick(start, found, response);
  };
  node.off("request", serve);
  node.on("request", answer);
});

/**
 * Fibers until their end, in an array. The tables that a Set or the finalizers of a scope leave behind as they change
 * would keep each fiber and its answer until the next full garbage collection.
 */
class RunningFibers {
  readonly #fibers: Array<Fiber.Fiber<unknown> | undefined> = [];
  readonly #free: Array<number> = [];

  add(fiber: Fiber.Fiber<unknown>): void {
    const place = this.#free.pop() ?? this.#fibers.length;
    this.#fibers[place] = fiber;
    fiber.addObserver(() => {
      this.#fibers[place] = undefined;
      this.#free.push(place);
    });
  }

  *[Symbol.iterator](): Iterator<Fiber.Fiber<unknown>> {
    for (const fiber of this.#fibers) if (fiber !== undefined) yield fiber;
  }
}

const isPlain = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] === undefined && headers.expect === undefined && headers.upgrade === undefined;

class NodeRequest implements DirectRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: DirectRequest["headers"];
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage) {
    this.method = request.method as string;
    this.url = request.url as string;
    this.headers = request.headers as DirectRequest["headers"];
    this.#request = request;
  }

  get bytes(): Effect.Effect<Uint8Array> {
    const { headers, readableLength } = this.#request;
    const length = Number(headers["content-length"] ?? 0);
    if (readableLength < length) return rest(this.#request);
    const bytes = (this.#request.read() as Buffer | null) ?? noBytes;
    this.#request.resume();
    return Effect.succeed(bytes);
  }
}

const noBytes = new Uint8Array();

/** When the connection closes before the end of the body, the fiber is interrupted. */
const rest = (request: IncomingMessage): Effect.Effect<Uint8Array> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => resume(Effect.succeed(Buffer.concat(chunks))));
  });

const send = (response: ServerResponse, exit: Exit.Exit<HttpServerResponse.HttpServerResponse>): void => {
  // Interrupted, since the client has left or the server stops.
  if (Exit.isFailure(exit)) return void response.destroy();
  if (response.destroyed) return;
  const { status, headers, body } = exit.value;
  response.writeHead(status, headers);
  response.end(body._tag === "Uint8Array" ? (body.text ?? body.body) : undefined);
};
