import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface Listening {
  readonly port: number;
  readonly tls: boolean;
}

const open = ({ port, tls }: Listening): Socket =>
  tls
    ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
    : connect({ port, host: "127.0.0.1" });

/** Sends a command, and returns the raw reply. Rejects if no reply arrives within a second. */
export const askRedis = (server: Listening, words: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = open(server);
    let reply = "";
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    socket.setTimeout(1_000, () => end(() => reject(new Error("Redis gives no reply"))));
    socket.once("error", (error) => end(() => reject(error)));
    socket.once("close", () => reject(new Error("Redis closed the connection")));
    socket.setEncoding("utf8").on("data", (data: string) => {
      reply += data;
      if (isWhole(reply)) end(() => resolve(reply));
    });
    socket.write(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`);
  });

/** Whether a reply of one line or one bulk string is complete. */
const isWhole = (reply: string): boolean => {
  const end = reply.indexOf("\r\n");
  if (end === -1) return false;
  if (!reply.startsWith("$")) return true;
  const length = Number(reply.slice(1, end));
  return reply.length >= end + 2 + Math.max(0, length);
};
