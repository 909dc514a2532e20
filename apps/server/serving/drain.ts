/** Graceful shutdown without losing a request. */
import type { Server } from "node:http";
import { Server as TcpServer } from "node:net";
import { type Duration, Effect } from "effect";

/** How long requests in flight and idle connections may stay open after the port is closed, in milliseconds. */
const drainTimeout = 10_000;

/**
 * How long to wait until the backlog is empty, in milliseconds. Under a flood of connections, it never becomes empty.
 */
const acceptTimeout = 2_000;

/**
 * A turn of the event loop is quick if it takes less than this many milliseconds, or less than 1 % of the wait so far.
 */
const quickTurn = 0.1;

export class Drain {
  #isStopping = false;

  /** Whether the server received the stop signal, so that load balancers should remove it. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /**
   * Continues to accept requests during the delay, then closes the port, and waits at most `drainTimeout` until every
   * connection has ended.
   *
   * Idle connections stay open, since a request may be on its way. An idle connection ends after one more request,
   * which is answered with `Connection: close` because the port is closed, or when the client closes it, or at the idle
   * timeout.
   *
   * @param delay how long load balancers have to notice that the server is not ready
   * @param endReads ends long polls and streams
   */
  readonly run = Effect.fnUntraced(
    { self: this },
    function* (node: Server, delay: Duration.Input, endReads: Effect.Effect<void>) {
      this.#isStopping = true;
      yield* Effect.sleep(delay);
      const allClosed = yield* Effect.promise(() => closePort(node));
      yield* endReads;
      const deadline = setTimeout(() => node.closeAllConnections(), drainTimeout);
      yield* Effect.promise(() => allClosed.closed);
      clearTimeout(deadline);
    },
  );
}

/**
 * Stops accepting connections but keeps idle ones, which `close` of `node:http` would close.
 *
 * Closing the port resets the connections that wait in its backlog, although clients see them as open. Node accepts one
 * connection in each turn of the event loop. So the port is closed after a turn that accepted no connection and that
 * was too short for a client to open a connection meanwhile.
 *
 * @returns a promise that resolves when the last connection has ended
 */
const closePort = (node: Server): Promise<{ readonly closed: Promise<void> }> =>
  new Promise((resolve) => {
    const started = performance.now();
    let turnBegan = started;
    // The current turn may already have accepted a connection.
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
