/** The servers that the bench compares: this checkout, other checkouts, and the hand-written peer. */
import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import type { Databases } from "./databases.ts";
import { unreachedAddressLimits } from "./dataset.ts";
import { type RunningServer, startServer } from "./server_process.ts";

export const titles = { memory: "Memory", embedded: "Embedded", shared: "Postgres and Redis" } as const;
export type Deployment = keyof typeof titles;

export interface Contender {
  readonly name: string;
  /** Starts the server; the first start fills its empty storage. */
  readonly start: (isFirst: boolean, nodeOptions?: ReadonlyArray<string>) => Promise<RunningServer>;
}

export interface Places {
  /** The folder in which embedded databases are stored. */
  readonly folder: string;
  /** Paths of two fixtures: one with all data, and one with the data of the platforms only. */
  readonly fixtures: { readonly full: string; readonly platform: string };
  /** Null if the deployment does not use Postgres and Redis. */
  readonly databases: Databases | null;
  /** The paths of other checkouts to compare with. */
  readonly besides: ReadonlyArray<string>;
}

export const ownName = "accountlink";

/** Returns the name of another checkout among the contenders: its folder's. */
export const nameOf = (checkout: string): string => `beside-${basename(checkout)}`;

/**
 * Returns the servers to compare: this checkout, the other checkouts, and the hand-written peer. Memory
 * storage is measured without the peer.
 */
export const contendersOf = async (on: Deployment, places: Places): Promise<ReadonlyArray<Contender>> => {
  const contenders = [await own(ownName, join(import.meta.dirname, ".."), on, places)];
  for (const checkout of places.besides) contenders.push(await own(nameOf(checkout), checkout, on, places));
  if (on !== "memory") contenders.push(await peer(on, places));
  return contenders;
};

const own = async (name: string, checkout: string, on: Deployment, places: Places): Promise<Contender> => {
  const environment = await environmentOf(on, name, places);
  return {
    name,
    start: async (isFirst, nodeOptions = []) => {
      const isEmpty = isFirst || on === "memory";
      // `nodeOptions` are only set by `--profile`, which should show source files. `main.ts` would run the bundle.
      const program = nodeOptions.length === 0 ? "main.ts" : "commands/run_process.ts";
      return startServer([...nodeOptions, join(checkout, "apps/server", program), "serve"], {
        ...unreachedAddressLimits,
        ACCOUNTLINK_PORT: "0",
        ACCOUNTLINK_PLATFORM: "dev",
        // At this level, the server logs no refused requests. The peer does not log them either.
        ACCOUNTLINK_LOG_LEVEL: "error",
        ACCOUNTLINK_FIXTURE: isEmpty ? places.fixtures.full : places.fixtures.platform,
        ...environment,
      });
    },
  };
};

const environmentOf = async (
  on: Deployment,
  name: string,
  { folder, databases }: Places,
): Promise<Readonly<Record<string, string>>> => {
  if (on === "memory") return { ACCOUNTLINK_STORAGE: "memory" };
  if (on === "embedded") return { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: join(folder, name) };
  const { makeDatabase, redisUrl } = databases as Databases;
  return {
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: await makeDatabase(),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redisUrl,
    ACCOUNTLINK_REDIS_PREFIX: `${name}:`,
    ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
  };
};

const peer = async (on: Deployment, { folder, databases }: Places): Promise<Contender> => {
  const { makeDatabase, redisUrl } = databases ?? {};
  const stores = on === "shared" ? [await makeDatabase?.(), redisUrl] : [join(folder, "fastify.db")];
  const args = [join(import.meta.dirname, "fastify/server.ts"), ...(stores as ReadonlyArray<string>)];
  return {
    name: "fastify",
    start: (isFirst, nodeOptions = []) =>
      startServer([...nodeOptions, ...args, ...(isFirst ? ["--fill"] : [])], {}),
  };
};
