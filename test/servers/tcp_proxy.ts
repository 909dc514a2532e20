import { connect, createServer, type Socket } from "node:net";
import { Effect } from "effect";
import { listenLocally } from "./free_port.ts";

export interface TcpProxy {
  readonly port: number;
  /** Resets all open connections and every new one, like a machine that is off. */
  readonly cut: Effect.Effect<void>;
  /** Drops all data, but keeps connections open and accepts new ones, like a network that loses all packets. */
  readonly silence: Effect.Effect<void>;
  /** Forwards the data of new connections again. Connections that were open during `silence` stay silent. */
  readonly restore: Effect.Effect<void>;
  /** Forwards new connections to another local port, like an address that moves to another server in a failover. */
  readonly forwardTo: (port: number) => Effect.Effect<void>;
}

/**
 * Starts a proxy to a local port. The proxy ends with the scope.
 *
 * @param latency the delay of data in each direction, in milliseconds
 */
export const startProxy = Effect.fnUntraced(function* (port: number, latency = 0) {
  let target = port;
  let mode: "through" | "cut" | "silent" = "through";
  const passages = new Set<ProxiedConnection>();
  const reset = () => {
    for (const passage of passages) passage.reset();
  };
  const server = createServer((near) => {
    const passage = new ProxiedConnection(near, { target, latency }, () => passages.delete(passage));
    passages.add(passage);
    passage.isSilent = mode === "silent";
    if (mode === "cut") passage.reset();
  });
  const own = yield* Effect.acquireRelease(
    Effect.promise(() => listenLocally(server)),
    () =>
      Effect.sync(() => {
        server.close();
        reset();
      }),
  );

  const proxy: TcpProxy = {
    port: own,
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
    forwardTo: (other) =>
      Effect.sync(() => {
        target = other;
      }),
  };
  return proxy;
});

export const throughProxy = (url: string, { port }: Pick<TcpProxy, "port">): string => {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
};

class ProxiedConnection {
  /**
   * If true, the connection reads and drops all data, and the other side does not even learn that a stream has ended.
   */
  isSilent = false;
  readonly #ends: ReadonlyArray<Socket>;
  readonly #ended: () => void;
  readonly #latency: number;

  constructor(near: Socket, { target, latency }: { target: number; latency: number }, ended: () => void) {
    const far = connect({ host: "127.0.0.1", port: target });
    this.#latency = latency;
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
      if (this.isSilent) return;
      if (this.#latency === 0) to.write(chunk);
      else setTimeout(() => to.write(chunk), this.#latency);
    });
    // After each error, the socket also emits `close`, and the listener for `close` ends the connection.
    from.on("error", () => {});
    from.on("close", () => {
      if (this.isSilent) return;
      to.destroy();
      this.#ended();
    });
  }
}
