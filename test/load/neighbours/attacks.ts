/** The attacks of the proof of neighbours, in processes of their own: an attacker does not slow down its victims' clients. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { flood } from "../flooding.ts";
import { type HttpAttack, requestsOf } from "./requests.ts";
import { caseRows, routeRows } from "./route_rows.ts";
import type { RouteRow } from "./row.ts";
import { makeTools, type WorkTools, works } from "./works.ts";
import { type Attacker, type Site, withNewFlows, withNewSessions } from "./world.ts";

interface Attacking {
  /** Whether all its work has ended; of a flood, whether the expected answer has come. */
  readonly isOver: () => boolean;
  /** Ends the attack. Returns what the attacker was answered, and whether the attack did what it is for. */
  readonly stop: () => Promise<{ readonly statuses: string; readonly hasWorked: boolean }>;
}

export type Attack = () => Promise<Attacking>;

type Target = Pick<WorkTools, "url" | "attacker" | "size">;

/** How long a flood waits for the expected answer, in milliseconds. */
const longestWait = 15_000;

/** The number of the attacker's machines, and of their connections that pipeline and that wait for each answer. */
const [machines, impatient, patient] = [16, 16, 32];

let floods = 0;

/** Returns addresses whose limits no earlier flood has used up. */
const newAddresses = (): ReadonlyArray<string> => {
  floods++;
  return Array.from(
    { length: machines },
    (_, index) => `127.${1 + (floods >> 8)}.${floods & 255}.${index + 1}`,
  );
};

/** Returns the attack of each route and of each work in the background, by name. */
export const attacksOn = (target: Target): ReadonlyMap<string, Attack> =>
  new Map([
    ...Object.entries({ ...routeRows, ...caseRows }).map(
      ([name, row]) => [name, floodOf(target, name, row)] as const,
    ),
    ...Object.keys(works).map((name) => [name, workOf(target, name)] as const),
  ]);

const flowSites: ReadonlySet<unknown> = new Set([
  "leaving",
  "proven",
  "returning",
  "whole",
  "taken",
] satisfies Array<Site>);

const freshFor = async (name: string, { site }: RouteRow, url: string, attacker: Attacker) => {
  if (flowSites.has(site)) return withNewFlows(url, attacker);
  return name.includes("/:sid") ? withNewSessions(url, attacker) : attacker;
};

const floodOf =
  ({ url, attacker }: Target, name: string, row: RouteRow): Attack =>
  async () => {
    const fresh = await freshFor(name, row, url, attacker);
    const flooding = await flood({
      port: Number(new URL(url).port),
      addresses: newAddresses(),
      connections: impatient,
      patient,
      requests: requestsOf(name, row, fresh).map(rawOf),
      depth: 1,
      expected: row.answer,
    });
    const end = performance.now() + longestWait;
    return {
      isOver: () => flooding.isAnswered() || performance.now() > end,
      stop: async () => {
        const statuses = await flooding.stop();
        return {
          statuses: JSON.stringify(Object.fromEntries(statuses)),
          hasWorked: statuses.has(String(row.answer)),
        };
      },
    };
  };

const rawOf = ({ line, headers, body }: HttpAttack): string => {
  const bytes = Buffer.from(body);
  const lines = [
    `${line} HTTP/1.1`,
    "Host: 127.0.0.1",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(bytes.length > 0 ? [`Content-Length: ${bytes.length}`] : []),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${bytes.toString("latin1")}`;
};

/** A flood of plain bulks of 50 users, on connections that wait for each answer. */
export const bulksOf = (key: string) => {
  const chatIds = Array.from({ length: 50 }, (_, index) => String(300_001 + index));
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const bulk = { line: "POST /v2/chat/bulk", headers, body: JSON.stringify({ chatIds }) } as const;
  return { addresses: ["127.0.9.1"], connections: 0, patient, requests: [rawOf(bulk)], depth: 1 };
};

interface Ordered {
  readonly name: string;
  readonly target: Target;
}

const workOf =
  (target: Target, name: string): Attack =>
  async () => {
    const child = fork(import.meta.filename, ["work"], { execArgv: [] });
    setPriority(child.pid as number, 10);
    const ended = once(child, "exit");
    let outcome = "";
    child.on("message", (text: string) => {
      outcome = text;
    });
    child.send({ name, target } satisfies Ordered);
    return {
      isOver: () => outcome !== "" || child.exitCode !== null,
      stop: async () => {
        child.kill();
        await ended;
        return { statuses: outcome, hasWorked: outcome.endsWith(" ms") };
      },
    };
  };

const run = async ({ name, target }: Ordered): Promise<string> => {
  const { close, ...tools } = makeTools(target.url, target.attacker, target.size);
  const began = performance.now();
  try {
    await works[name as keyof typeof works](tools);
    return `${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    return String(error);
  } finally {
    close();
  }
};

if (process.argv[1] === import.meta.filename) {
  process.once("message", (ordered) => void run(ordered as Ordered).then((text) => process.send?.(text)));
}
