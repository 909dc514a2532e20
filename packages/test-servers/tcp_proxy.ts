/** A proxy between a test and a server, which does to connections what networks do. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Effect } from "effect";

/** A proxy on a port of this machine. */
export interface TcpProxy {
  readonly port: number;
  /** Resets every connection, and new ones as they come, as when the server's machine is off. */
  readonly cut: Effect.Effect<void>;
  /** Loses all that is sent from now on, and tells nobody: connections stay, and new ones open, and are silent. */
  readonly silence: Effect.Effect<void>;
  /** Lets new connections through. Those that were silenced stay so. */
  readonly restore: Effect.Effect<void>;
  /** Leads new connections to another port of this machine, as an address does that follows a failover. */
  readonly leadTo: (port: number) => Effect.Effect<void>;
}

/** Starts a proxy to a port of this machine. It is gone with the scope. */
export const startProxy = Effect.fnUntraced(function* (port: number) {
  let target = port;
  let mode: "through" | "cut" | "silent" = "through";
  const passages = new Set<Passage>();
  const reset = () => {
    for (const passage of passages) passage.reset();
  };
  const server = createServer((near) => {
    const passage = new Passage(near, target, () => passages.delete(passage));
    passages.add(passage);
    passage.isSilent = mode === "silent";
    if (mode === "cut") passage.reset();
  });
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () =>
      Effect.sync(() => {
        server.close();
        reset();
      }),
  );

  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    cut: Effect.sync(() => {
      mode = "cut";
      reset();
    }),
    silence: Effect.sync(() => {
      mode = "silent";
      for (const passage of passages) passage.isSilent = true;
    }),
    restore: Effect.sync(() => {
      mode = "through";
    }),
    leadTo: (other) =>
      Effect.sync(() => {
        target = other;
      }),
  };
  return proxy;
});

/** One connection through the proxy. */
class Passage {
  /** What comes is read and lost, also the news that an end has closed. */
  isSilent = false;
  readonly #ends: ReadonlyArray<Socket>;
  readonly #ended: () => void;

  constructor(near: Socket, target: number, ended: () => void) {
    const far = connect({ host: "127.0.0.1", port: target });
    this.#ends = [near, far];
    this.#ended = ended;
    this.#pass(near, far);
    this.#pass(far, near);
  }

  reset(): void {
    for (const end of this.#ends) end.resetAndDestroy();
    this.#ended();
  }

  #pass(from: Socket, to: Socket): void {
    from.setNoDelay();
    from.on("data", (chunk) => {
      if (!this.isSilent) to.write(chunk);
    });
    // It is followed by the close.
    from.on("error", () => {});
    from.on("close", () => {
      if (this.isSilent) return;
      to.destroy();
      this.#ended();
    });
  }
}
