/** Clients that connect to a port all the time, from before it opens. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Connections {
  /** By the status that they were answered with. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly closed: number;
  readonly open: number;
}

/** Connects every two milliseconds and asks for `/readyz`, until it is stopped. */
export const connectAllTheTime = (port: number) => {
  const statuses: Record<string, number> = {};
  const open = new Set<Socket>();
  let closed = 0;

  const ask = () => {
    const socket = connect(port, "127.0.0.1");
    let isAnswered = false;
    socket.once("connect", () => {
      open.add(socket);
      socket.write("GET /readyz HTTP/1.1\r\nHost: service.example\r\nConnection: close\r\n\r\n");
    });
    socket.once("data", (data: Buffer) => {
      isAnswered = true;
      const status = /^HTTP\/1\.1 (\d+)/.exec(data.toString("latin1"))?.[1] ?? "unreadable";
      statuses[status] = (statuses[status] ?? 0) + 1;
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      if (open.delete(socket) && !isAnswered) closed++;
    });
  };
  const timer = setInterval(ask, 2);

  return {
    /** How many were answered so far. */
    answered: () => Object.values(statuses).reduce((sum, count) => sum + count, 0),

    /** @param patience how long the last connections may take to end, in milliseconds */
    stop: async (patience: number): Promise<Connections> => {
      clearInterval(timer);
      const deadline = performance.now() + patience;
      while (open.size > 0 && performance.now() < deadline) await sleep(10);
      const report = { statuses, closed, open: open.size };
      for (const socket of open) socket.destroy();
      return report;
    },
  };
};
