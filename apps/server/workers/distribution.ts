/**
 * Hands connections to workers, and loses none that a worker has not taken.
 *
 * `node:cluster` does the same, but forgets a connection that is on its way to a worker which is
 * killed: its client waits for ever. With `SO_REUSEPORT` the kernel resets all connections that
 * wait for a worker which is killed.
 */
import type { Socket } from "node:net";

/** A worker that takes connections. */
export interface Taker {
  readonly take: (connection: number, socket: Socket) => void;
}

export class Distribution {
  /** In the order of their turns, with the connections that each was handed and did not take yet. */
  readonly #takers = new Map<Taker, Map<number, Socket>>();
  readonly #waiting: Array<Socket> = [];
  #lastConnection = 0;

  /** Hands a connection to the next worker, or keeps it until there is one. */
  hand(socket: Socket): void {
    const next = this.#next();
    if (next === undefined) {
      this.#waiting.push(socket);
      return;
    }
    const [taker, handed] = next;
    // Its next turn is after those of the others.
    this.#takers.delete(taker);
    this.#takers.set(taker, handed);
    const connection = ++this.#lastConnection;
    handed.set(connection, socket);
    taker.take(connection, socket);
  }

  add(taker: Taker): void {
    this.#takers.set(taker, new Map());
    for (const socket of this.#waiting.splice(0)) this.hand(socket);
  }

  /** The worker has its own copy of the socket now. */
  taken(taker: Taker, connection: number): void {
    const handed = this.#takers.get(taker);
    handed?.get(connection)?.destroy();
    handed?.delete(connection);
  }

  /** Hands what a worker that has ended did not take to others. */
  remove(taker: Taker): void {
    const handed = this.#takers.get(taker);
    this.#takers.delete(taker);
    for (const socket of handed?.values() ?? []) this.hand(socket);
  }

  /** Closes the connections that no worker takes any more. */
  close(): void {
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  /** The one with the fewest connections on the way: a worker that hangs gets no second one. */
  #next(): [Taker, Map<number, Socket>] | undefined {
    let next: [Taker, Map<number, Socket>] | undefined;
    for (const entry of this.#takers) {
      if (next === undefined || entry[1].size < next[1].size) next = entry;
    }
    return next;
  }
}
