/**
 * How a server that is told to stop leaves without losing a request.
 */
import type { Server } from "node:http";
import { Server as TcpServer } from "node:net";
import { type Duration, Effect } from "effect";

/** How long requests in flight may go on, and idle connections may stay, once the port is closed. */
const drainTimeout = 10_000;

/** How long the backlog is given to get empty, in milliseconds. Under a flood of connections it never does. */
const acceptTimeout = 2_000;

/** The longest turn of the event loop that counts as quick, in milliseconds; a hundredth of the time so far, if longer. */
const quickTurn = 0.1;

/** The stages in which a server stops. */
export class Drain {
  #stage: "serving" | "stopping" | "draining" = "serving";

  /** Whether the server was told to stop: load balancers should send it nothing more. */
  get isStopping(): boolean {
    return this.#stage !== "serving";
  }

  /** Whether the port is closed: every answer is the last one of its connection. */
  get isDraining(): boolean {
    return this.#stage === "draining";
  }

  /**
   * Serves on for the delay, closes the port, and waits until every connection has ended. Whatever is left after
   * `drainTimeout` is closed.
   *
   * An idle connection is not closed here: a request may be on its way to it. Its client closes it, or uses it once more
   * and is answered with `Connection: close`, or it ends by its idle timeout as at any other time.
   *
   * @param delay how long load balancers take to notice that the server is not ready
   * @param endReads ends long polls and streams
   */
  readonly run = Effect.fnUntraced(
    { self: this },
    function* (node: Server, delay: Duration.Input, endReads: Effect.Effect<void>) {
      this.#stage = "stopping";
      yield* Effect.sleep(delay);
      const allClosed = yield* Effect.promise(() => closePort(node));
      this.#stage = "draining";
      yield* endReads;
      const deadline = setTimeout(() => node.closeAllConnections(), drainTimeout);
      yield* Effect.promise(() => allClosed.closed);
      clearTimeout(deadline);
    },
  );
}

/**
 * Stops accepting connections, and leaves the open ones alone, unlike `close` of `node:http`, which closes idle ones.
 *
 * Closing the port resets the connections in its backlog, which clients take for open. Node accepts one in each turn of
 * the event loop, so the port is closed after a turn that had none to accept, and that was too short for another one to
 * be likely to have come since.
 *
 * @returns what resolves when the last connection has ended
 */
const closePort = (node: Server): Promise<{ readonly closed: Promise<void> }> =>
  new Promise((resolve) => {
    const started = performance.now();
    let turnBegan = started;
    // The present turn may have accepted one before anybody counted.
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
