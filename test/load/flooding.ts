/** A process that floods a server: its connections send a request again and again, and read all answers. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setPriority } from "node:os";

/** Each address opens its share of the connections. */
export interface Flood {
  readonly port: number;
  readonly addresses: ReadonlyArray<string>;
  readonly connections: number;
  /** How many further connections wait for each answer before they send again. */
  readonly patient?: number;
  /** The bytes of each request as Latin-1. */
  readonly requests: ReadonlyArray<string>;
  /** How often a connection that pipelines repeats the requests in each write. */
  readonly depth: number;
  /** The status of an answer to wait for. */
  readonly expected?: number;
}

export interface Flooding {
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

const run = ({ port, addresses, connections, patient = 0, requests, depth, expected }: Flood) => {
  const statuses = new Map<string, number>();
  const batch = Buffer.from(requests.join("").repeat(depth), "latin1");
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
    const sendMany = () => {
      while (socket.write(batch));
    };
    let sent = 0;
    const sendOne = () => void socket.write(requests[sent++ % requests.length] ?? "", "latin1");
    const isPatient = index >= connections;
    if (isPatient) socket.once("connect", sendOne);
    else socket.once("connect", sendMany).on("drain", sendMany);
    socket.on("data", (chunk: Buffer) => {
      for (const [, status = ""] of chunk.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        countAnswer(status);
        if (isPatient) sendOne();
      }
    });
    socket.on("error", () => {});
    socket.once("close", () => open(index));
  };
  for (let index = 0; index < connections + patient; index++) open(index);
  process.send?.("flooding");
  process.on("message", () => process.send?.(Object.fromEntries(statuses)));
};

if (process.argv[1] === import.meta.filename) process.once("message", (options) => run(options as Flood));
