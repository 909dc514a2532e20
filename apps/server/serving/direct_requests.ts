/**
 * Answers plain requests on Node's own event. All others go through Effect's HTTP server.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isTraced } from "@accountlink/core/telemetry";
import type { DirectRequests } from "@accountlink/http";
import { Effect, Exit, Fiber, Scope } from "effect";
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
  // A scope of its own: that of the server counts as closed while it drains, and would interrupt.
  const scope = yield* Scope.fork(yield* Effect.scope, "parallel");
  const run = Effect.runForkWith(yield* Effect.context());
  const serve = node.listeners("request").at(-1) as Listener;

  const answer: Listener = (request, response) => {
    const isDirect = isPlain(request) && !isRefused(request);
    const found = isDirect ? answerOf(readable(request), request.socket.remoteAddress) : undefined;
    if (found === undefined) return serve(request, response);
    const fiber = run(found);
    const exit = fiber.pollUnsafe();
    if (exit !== undefined) return send(response, exit);
    Fiber.runIn(fiber, scope).addObserver((late) => send(response, late));
    response.once("close", () => fiber.interruptUnsafe());
  };
  node.off("request", serve);
  node.on("request", answer);
});

const isPlain = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] === undefined && headers.expect === undefined && headers.upgrade === undefined;

const readable = (request: IncomingMessage) => ({
  method: request.method as string,
  url: request.url as string,
  headers: request.headers as Readonly<Record<string, string | undefined>>,
  get arrayBuffer() {
    return bodyOf(request);
  },
});

const noBytes = new Uint8Array();

/** The body. When the connection closes before its end, the fiber is interrupted. */
const bodyOf = (request: IncomingMessage): Effect.Effect<Uint8Array> =>
  Effect.callback((resume) => {
    if (request.readableEnded) return resume(Effect.succeed(noBytes));
    const chunks: Array<Buffer> = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const [only = noBytes] = chunks;
      resume(Effect.succeed(chunks.length > 1 ? Buffer.concat(chunks) : only));
    });
  });

const send = (response: ServerResponse, exit: Exit.Exit<HttpServerResponse.HttpServerResponse>): void => {
  // Interrupted, since the client has left or the server stops.
  if (Exit.isFailure(exit)) return void response.destroy();
  if (response.destroyed) return;
  const { status, headers, body } = exit.value;
  response.writeHead(status, headers);
  response.end(body._tag === "Uint8Array" ? (body.text ?? body.body) : undefined);
};
