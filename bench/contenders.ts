/** The servers that the bench compares, by deployment: ours, and peers that keep everything where ours does. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Contender, Places } from "./contender.ts";
import type { Databases } from "./databases.ts";
import { embeddersIn } from "./embedders.ts";
import { apiKey, chatIdOf, ranges, unreachedAddressLimits } from "./fixture.ts";
import { startServer } from "./server_process.ts";

export const deployments = ["memory", "embedded", "shared"] as const;
export type Deployment = (typeof deployments)[number];

export const titles: Readonly<Record<Deployment, string>> = {
  memory: "Memory",
  embedded: "Embedded",
  shared: "Postgres and Redis",
};

/** The names by which the ratios know them. */
export const ownName = "accountlink";
export const besideName = "beside";
export const transactionName = "transaction alone";

const thisCheckout = join(import.meta.dirname, "..");

/** The contenders of a deployment, ours first. */
export const contendersOf = async (on: Deployment, places: Places): Promise<ReadonlyArray<Contender>> => {
  const ours = [own(ownName, thisCheckout, await environmentOf(on, "own", places), places)];
  if (places.beside !== undefined) {
    ours.push(own(besideName, places.beside, await environmentOf(on, "beside", places), places));
  }
  return [...ours, ...(await peersOf[on](places))];
};

const own = (
  name: string,
  checkout: string,
  environment: Readonly<Record<string, string>>,
  { fixtures }: Places,
): Contender => ({
  name,
  isAlike: true,
  start: async ({ isFirst, nodeOptions = [] }) => {
    const isEmpty = isFirst || environment["ACCOUNTLINK_STORAGE"] === "memory";
    // A profile names files, which the bundle that `main.ts` runs has none of.
    const program = nodeOptions.length === 0 ? "main.ts" : "commands/run_process.ts";
    const args = [...nodeOptions, join(checkout, "apps/server", program), "serve"];
    const variables = {
      ...unreachedAddressLimits,
      ACCOUNTLINK_PORT: "0",
      ACCOUNTLINK_PLATFORM: "dev",
      // A peer logs no refusals either.
      ACCOUNTLINK_LOG_LEVEL: "error",
      ACCOUNTLINK_FIXTURE: isEmpty ? fixtures.full : fixtures.platform,
      ...environment,
    };
    const server = await startServer(args, variables);
    if (isEmpty) await removeLinks(server.url);
    return server;
  },
});

/** A fixture has no chat users whose link was removed. */
const removeLinks = async (url: string) => {
  for (let index = ranges.changing; index < ranges.unlinked; index++) {
    const { status } = await fetch(`${url}/v2/game`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ chatId: chatIdOf(index) }),
    });
    if (status !== 200) throw new Error(`Cannot remove a link: the answer is ${status}, expected 200`);
  }
};

const environmentOf = async (
  on: Deployment,
  name: string,
  { folder, databases }: Places,
): Promise<Readonly<Record<string, string>>> => {
  if (on === "memory") return { ACCOUNTLINK_STORAGE: "memory" };
  if (on === "embedded") {
    return { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: join(folder, name) };
  }
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

const frameworks = ["http", "fastify", "hono"] as const;

const peersOf: Readonly<Record<Deployment, (places: Places) => Promise<ReadonlyArray<Contender>>>> = {
  memory: async () => [{ ...peer("constant", "none"), works: ["hit"], isAlike: false }],
  embedded: async (places) => [
    ...frameworks.map((framework) => peer(framework, "embedded", join(places.folder, `${framework}.db`))),
    ...embeddersIn(places, (environment) =>
      own("", thisCheckout, environment, places).start({ isFirst: true }),
    ),
  ],
  shared: async ({ databases }) => {
    const { makeDatabase, redisUrl } = databases as Databases;
    const peers: Array<Contender> = [];
    for (const framework of frameworks) peers.push(peer(framework, "shared", await makeDatabase(), redisUrl));
    return [...peers, transactions(await makeDatabase(), redisUrl)];
  },
};

const peer = (framework: string, storage: string, ...places: ReadonlyArray<string>): Contender => ({
  name: framework,
  isAlike: true,
  start: ({ isFirst, nodeOptions = [] }) => {
    const script = join(import.meta.dirname, "peers/peer.ts");
    return startServer(
      [...nodeOptions, script, framework, storage, ...places, ...(isFirst ? ["--fill"] : [])],
      {},
    );
  },
});

/** The database alone, on which the load generator writes. A peer fills it. */
const transactions = (databaseUrl: string, redisUrl: string): Contender => ({
  name: transactionName,
  works: ["patch"],
  isAlike: false,
  start: async ({ isFirst }) => {
    if (isFirst) await (await peer("http", "shared", databaseUrl, redisUrl).start({ isFirst })).stop();
    return {
      url: databaseUrl,
      startTime: Number.NaN,
      processorTime: () => null,
      memory: () => null,
      stop: async () => {},
    };
  },
});
