/** The servers that the bench compares: ours, and a peer that keeps everything where ours does. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Databases } from "./databases.ts";
import { type RunningServer, startServer } from "./server_process.ts";
import { unreachedAddressLimits } from "./workload.ts";

/** One of several that do the same. */
export interface Contender {
  readonly name: string;
  /** @param fixtureFile what to fill the storage with at first */
  readonly start: (options?: {
    readonly fixtureFile?: string;
    readonly nodeOptions?: ReadonlyArray<string>;
  }) => Promise<RunningServer>;
}

export interface Contenders {
  readonly own: Contender;
  readonly peer: Contender;
  /** Ours, from another checkout. */
  readonly beside: Contender | null;
}

const here = import.meta.dirname;
const checkout = join(here, "../..");

const own = (
  environment: Readonly<Record<string, string>>,
  name = "accountlink",
  folder = checkout,
): Contender => ({
  name,
  start: ({ fixtureFile, nodeOptions = [] } = {}) =>
    startServer([...nodeOptions, join(folder, "apps/server/main.ts"), "serve"], {
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
export const embedded = (folder: string, beside: string | undefined): Contenders => {
  const environment = (name: string) => ({
    ACCOUNTLINK_STORAGE: "embedded",
    ACCOUNTLINK_DATA_DIR: join(folder, name),
  });
  return {
    own: own(environment("data")),
    peer: peer("peer_embedded.ts", [join(folder, "peer.db")]),
    beside: beside === undefined ? null : own(environment("beside"), "beside", beside),
  };
};

/** On Postgres and Redis. */
export const shared = async (
  { makeDatabase, redisUrl }: Databases,
  beside: string | undefined,
): Promise<Contenders> => {
  const environment = async (prefix: string) => ({
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: await makeDatabase(),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redisUrl,
    ACCOUNTLINK_REDIS_PREFIX: prefix,
    ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
  });
  return {
    own: own(await environment("own:")),
    peer: peer("peer_shared.ts", [await makeDatabase(), redisUrl]),
    beside: beside === undefined ? null : own(await environment("beside:"), "beside", beside),
  };
};
