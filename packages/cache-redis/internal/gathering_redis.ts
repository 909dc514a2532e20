import { Redis } from "ioredis";

/**
 * A client whose commands of one turn of the event loop leave in one write. To hand a few bytes to the network takes
 * longer than to make a command, and many requests come in the same turn.
 */
export class GatheringRedis extends Redis {
  #isGathering = false;

  override sendCommand(...sent: Parameters<Redis["sendCommand"]>): unknown {
    this.#gather();
    return super.sendCommand(...sent);
  }

  /**
   * Leaves a connection once. The driver does it with every reply that says READONLY, and each time adds a timer and a
   * listener to the same socket.
   */
  override disconnect(reconnect = false): void {
    const stream = this.stream as typeof this.stream | undefined;
    if (reconnect && stream?.writableEnded === true) return;
    super.disconnect(reconnect);
  }

  #gather(): void {
    // There is none before the first connection is asked for.
    const stream = this.stream as typeof this.stream | undefined;
    if (this.#isGathering || stream === undefined) return;
    this.#isGathering = true;
    stream.cork();
    setImmediate(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }
}
