/**
 * Answers lookups on Node's own event. All other requests go through Effect's HTTP server.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isTraced } from "@accountlink/core/telemetry";
import type { DirectLookups, RequestHead } from "@accountlink/http";
import { Effect, Exit, Fiber, Scope } from "effect";
import type { HttpServerResponse } from "effect/http";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Puts direct lookups before Effect's server, which has begun to serve. With tracing it answers
 * everything, since it makes the spans.
 *
 * @param isRefused whether a request is refused before routing
 */
export const answerDirectly = Effect.fnUntraced(function* (
  node: Server,
  lookup: DirectLookups,
  isRefused: (request: IncomingMessage) => boolean,
) {
  if (yield* isTraced) return;
  // A scope of its own: that of the server counts as closed while it drains, and would interrupt.
  const scope = yield* Scope.fork(yield* Effect.scope, "parallel");
  const run = Effect.runForkWith(yield* Effect.context());
  const serve = node.listeners("request").at(-1) as Listener;

  const answer: Listener = (request, response) => {
    const isDirect = isHeadAlone(request) && !isRefused(request);
    const found = isDirect ? lookup(request as RequestHead, request.socket.remoteAddress) : undefined;
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

const isHeadAlone = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] === undefined &&
  headers["transfer-encoding"] === undefined &&
  headers.expect === undefined &&
  headers.upgrade === undefined;

const send = (response: ServerResponse, exit: Exit.Exit<HttpServerResponse.HttpServerResponse>): void => {
  // Interrupted, since the client has left or the server stops.
  if (Exit.isFailure(exit)) return void response.destroy();
  if (response.destroyed) return;
  const { status, headers, body } = exit.value;
  response.writeHead(status, headers);
  response.end(body._tag === "Uint8Array" ? (body.text ?? body.body) : undefined);
};
