/**
 * An HTTP server whose connections another process accepts.
 */
import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface HandedConnections {
  /** Serves a connection. */
  readonly take: (socket: Socket) => void;
  /** Resolves when all connections that were taken have ended. */
  readonly ended: () => Promise<void>;
}

/**
 * Makes `listen` wait for the address of the port that is open in the other process.
 *
 * @param open called when the server can listen
 */
export const serveHanded = (server: Server, open: () => Promise<AddressInfo>): HandedConnections => {
  let address: AddressInfo | null = null;
  let connections = 0;
  let onEnded: (() => void) | undefined;

  Object.assign(server, {
    listen: async (_: unknown, onListening: () => void) => {
      address = await open();
      // Node begins to enforce its timeouts.
      server.emit("listening");
      onListening();
    },
    address: () => address,
  });

  return {
    take: (socket) => {
      if (connections >= server.maxConnections) {
        server.emit("drop");
        socket.destroy();
        return;
      }
      connections++;
      socket.once("close", () => {
        connections--;
        if (connections === 0) onEnded?.();
      });
      // As sockets of HTTP servers: a client may end its side before it is answered.
      socket.allowHalfOpen = true;
      server.emit("connection", socket);
    },
    ended: () =>
      new Promise((resolve) => {
        onEnded = resolve;
        if (connections === 0) resolve();
      }),
  };
};
