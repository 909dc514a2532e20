/** A process that floods a server: its connections pipeline a request again and again, and read all answers. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setPriority } from "node:os";

/** Each address opens its share of the connections. */
export interface Flood {
  readonly port: number;
  readonly addresses: ReadonlyArray<string>;
  readonly connections: number;
  /** Its bytes as Latin-1. */
  readonly request: string;
  /** How many requests each write has. */
  readonly depth: number;
  /** The status of an answer to wait for. */
  readonly expected?: number;
}

export interface Flooding {
  /** Whether an answer with the expected status has come. */
  readonly isAnswered: () => boolean;
  /** Ends the flood. Returns how many answers it got, by status. */
  readonly stop: () => Promise<ReadonlyMap<string, number>>;
}

type Statuses = Readonly<Record<string, number>>;

export const flood = async (options: Flood): Promise<Flooding> => {
  const child = fork(import.meta.filename, ["flood"], { execArgv: [] });
  // An attacker has machines of its own, so the flood takes only processor time that the server leaves.
  setPriority(child.pid as number, 10);
  let isAnswered = false;
  const counted = new Promise<Statuses>((resolve) => {
    child.on("message", (message: "flooding" | "answered" | Statuses) => {
      if (message === "answered") isAnswered = true;
      else if (message !== "flooding") resolve(message);
    });
  });
  child.send(options);
  await once(child, "message");
  return {
    isAnswered: () => isAnswered,
    stop: async () => {
      child.send("stop");
      const statuses = await counted;
      child.kill();
      await once(child, "exit");
      return new Map(Object.entries(statuses));
    },
  };
};

const run = ({ port, addresses, connections, request, depth, expected }: Flood) => {
  const statuses = new Map<string, number>();
  const batch = Buffer.from(request.repeat(depth), "latin1");
  const countAnswer = (status: string) => {
    const count = (statuses.get(status) ?? 0) + 1;
    statuses.set(status, count);
    if (status === String(expected) && count === 1) process.send?.("answered");
  };
  const open = (index: number): void => {
    const socket = connect({
      port,
      host: "127.0.0.1",
      localAddress: addresses[index % addresses.length] as string,
    });
    const send = () => {
      while (socket.write(batch));
    };
    socket.once("connect", send).on("drain", send);
    socket.on("data", (chunk: Buffer) => {
      for (const [, status = ""] of chunk.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3}) /g))
        countAnswer(status);
    });
    socket.on("error", () => {});
    socket.once("close", () => open(index));
  };
  for (let index = 0; index < connections; index++) open(index);
  process.send?.("flooding");
  process.on("message", () => process.send?.(Object.fromEntries(statuses)));
};

if (process.argv[1] === import.meta.filename) process.once("message", (options) => run(options as Flood));
