/** Graceful shutdown without losing a request. */
import type { Server } from "node:http";
import { Server as TcpServer } from "node:net";
import { type Duration, Effect } from "effect";

/** How long requests in flight and idle connections may stay open after the port is closed, in milliseconds. */
const drainTimeout = 10_000;

/**
 * How long a stopping server waits until the backlog of its port is empty, in milliseconds. Without this limit, a flood
 * of connections would make it wait forever.
 */
const acceptTimeout = 2_000;

/**
 * A turn of the event loop counts as quick if it takes less than this many milliseconds, or less than 1 % of the time
 * that the server has waited for an empty backlog.
 */
const quickTurn = 0.1;

/**
 * Accepts connections until `delay` is over, then closes the port. After that, waits at most `drainTimeout` until every
 * connection has ended.
 *
 * Closing the port keeps idle connections open, since a request may be on its way. The response to this request has the
 * header `Connection: close`. Without a request, an idle connection ends when the client closes it, or at the idle
 * timeout.
 *
 * @param delay how long load balancers have to notice that the server is not ready
 * @param endReads ends long polls and streams
 */
export const drain = Effect.fnUntraced(function* (
  node: Server,
  delay: Duration.Input,
  endReads: Effect.Effect<void>,
) {
  yield* Effect.sleep(delay);
  const allClosed = yield* Effect.promise(() => closePort(node));
  yield* endReads;
  const deadline = setTimeout(() => node.closeAllConnections(), drainTimeout);
  yield* Effect.promise(() => allClosed.closed);
  clearTimeout(deadline);
});

/**
 * Stops accepting connections. Unlike `close` of `node:http`, keeps idle connections open.
 *
 * Closing the port resets the connections in its backlog, which clients see as open. So the port is closed only when
 * its backlog is empty. Node accepts one connection in each turn of the event loop. The backlog counts as empty after a
 * quick turn without a new connection: the turn was too short for a client to open one.
 *
 * @returns a promise that resolves when the last connection has ended
 */
const closePort = (node: Server): Promise<{ readonly closed: Promise<void> }> =>
  new Promise((resolve) => {
    const started = performance.now();
    let turnBegan = started;
    // Starts as true, since the current turn of the event loop may already have accepted a connection.
    let hasAccepted = true;
    const noteAccepted = () => {
      hasAccepted = true;
    };
    const closeWhenEmpty = () => {
      const now = performance.now();
      const isQuick = now - turnBegan < Math.max(quickTurn, (now - started) / 100);
      const isEmpty = !hasAccepted && isQuick;
      if (!isEmpty && now - started < acceptTimeout) {
        hasAccepted = false;
        turnBegan = now;
        setImmediate(closeWhenEmpty);
        return;
      }
      node.off("connection", noteAccepted);
      const closed = new Promise<void>((ended) => TcpServer.prototype.close.call(node, () => ended()));
      resolve({ closed });
    };
    node.on("connection", noteAccepted);
    setImmediate(closeWhenEmpty);
  });
