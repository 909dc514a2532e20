/** Sends raw bytes over a socket, for requests that no HTTP client sends. */
import { once } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import { connect, type Socket } from "node:net";

/** Opens a TCP connection, on which the test can still send data after the server has ended its side. */
export const connectTo = async (url: string): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
};

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Sends bytes and reads until the server ends the connection. */
export const sendRaw = async (url: string, bytes: string | Uint8Array): Promise<ReadonlyArray<RawAnswer>> => {
  const socket = await connectTo(url);
  socket.write(bytes);
  return readAnswers(socket);
};

/** Reads until the server ends the connection. */
export const readAnswers = async (socket: Socket): Promise<ReadonlyArray<RawAnswer>> => {
  let received = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    received += chunk;
  });
  await Promise.race([once(socket, "end"), once(socket, "close")]);
  socket.destroy();
  return answersIn(received);
};

/** Splits received bytes into answers by their `Content-Length`. */
const answersIn = (received: string): ReadonlyArray<RawAnswer> => {
  const answers: Array<RawAnswer> = [];
  for (let rest = received; rest !== ""; ) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) throw new Error(`Cannot read an answer: found ${JSON.stringify(rest)}`);
    const [line = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((header) => {
        const colon = header.indexOf(":");
        return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
      }),
    );
    const bodyEnd = end + 4 + Number(headers["content-length"] ?? 0);
    answers.push({ status: Number(line.split(" ")[1]), headers, text: rest.slice(end + 4, bodyEnd) });
    rest = rest.slice(bodyEnd);
  }
  return answers;
};

export const openSockets = async (pid: number): Promise<number> => {
  const folder = `/proc/${pid}/fd`;
  const links = (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => ""));
  return (await Promise.all(links)).filter((link) => link.startsWith("socket:")).length;
};
