import { Redis } from "ioredis";

/**
 * Sends the commands of one turn of the event loop in one write to the socket, since a write costs more than encoding
 * a command.
 */
export class PipeliningRedis extends Redis {
  #isCorked = false;

  override sendCommand(...args: Parameters<Redis["sendCommand"]>): unknown {
    this.#cork();
    return super.sendCommand(...args);
  }

  /**
   * Disconnects a socket only once. The driver calls this method for every READONLY reply, and would add a timer and a
   * listener to the same socket each time.
   */
  override disconnect(reconnect = false): void {
    const stream = this.stream as typeof this.stream | undefined;
    if (reconnect && stream?.writableEnded === true) return;
    super.disconnect(reconnect);
  }

  #cork(): void {
    // Undefined before the first connection attempt.
    const stream = this.stream as typeof this.stream | undefined;
    // If no other command is in flight, the command is sent at once.
    if (this.#isCorked || stream === undefined || this.commandQueue.length === 0) return;
    this.#isCorked = true;
    stream.cork();
    atEndOfTurn(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}

const due: Array<() => void> = [];

/**
 * Runs a function at the end of this turn of the event loop. If the function adds another function, that one also runs
 * before the next turn.
 */
export const atEndOfTurn = (run: () => void): void => {
  if (due.push(run) === 1) setImmediate(runDue);
};

const runDue = (): void => {
  for (const run of due) run();
  due.length = 0;
};
