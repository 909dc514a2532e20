/** The servers that the bench compares: ours, and a peer that keeps everything where ours does. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Databases } from "./databases.ts";
import { type RunningServer, startServer } from "./server_process.ts";
import { unreachedAddressLimits } from "./workload.ts";

/** One of two that do the same. */
export interface Contender {
  readonly name: string;
  /** @param fixtureFile what to fill the storage with at first */
  readonly start: (options?: {
    readonly fixtureFile?: string;
    readonly nodeOptions?: ReadonlyArray<string>;
  }) => Promise<RunningServer>;
}

/** Ours, and the peer. */
export type Pair = readonly [own: Contender, peer: Contender];

const here = import.meta.dirname;

const own = (environment: Readonly<Record<string, string>>): Contender => ({
  name: "accountlink",
  start: ({ fixtureFile, nodeOptions = [] } = {}) =>
    startServer([...nodeOptions, join(here, "../../apps/server/main.ts"), "serve"], {
      ...unreachedAddressLimits,
      ACCOUNTLINK_PORT: "0",
      ACCOUNTLINK_PLATFORM: "dev",
      ...environment,
      ...(fixtureFile === undefined ? {} : { ACCOUNTLINK_FIXTURE: fixtureFile }),
    }),
});

const peer = (script: string, places: ReadonlyArray<string>): Contender => ({
  name: "fastify",
  start: ({ fixtureFile } = {}) =>
    startServer([join(here, script), ...places, ...(fixtureFile === undefined ? [] : [fixtureFile])], {}),
});

/** On embedded storage. */
export const embeddedPair = (folder: string): Pair => [
  own({ ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: join(folder, "data") }),
  peer("peer_embedded.ts", [join(folder, "peer.db")]),
];

/** On Postgres and Redis. */
export const sharedPair = async ({ makeDatabase, redisUrl }: Databases): Promise<Pair> => [
  own({
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: await makeDatabase(),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redisUrl,
    ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
  }),
  peer("peer_shared.ts", [await makeDatabase(), redisUrl]),
];
