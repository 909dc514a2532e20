/**
 * The load bench: `GET /v2/chat` of the real server with 100,000 links, beside a Fastify app that does the same work for
 * a request; on embedded storage, and on Postgres and Redis. Both are started anew for each round, the rounds alternate,
 * and the answers are compared before anything is measured. Then what a bulk of 50 costs, in look-ups of one. It judges
 * nothing: a busy machine would fail it, so it only prints.
 *
 * Usage: `node test/load/bench.ts [--on=embedded] [--on=shared] [--rounds=5] [--seconds=8] [--profile]
 * [--beside=<another checkout, installed>]`
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Contender, type Contenders, embedded, shared } from "./contenders.ts";
import { hottestFunctions } from "./cpu_profile.ts";
import { type Databases, startDatabases, whyNoDatabases } from "./databases.ts";
import { playRound, type Round, type RoundPlan, shown } from "./round.ts";
import { compareAnswers } from "./same_answers.ts";
import { canPin, driveOnce } from "./server_process.ts";
import { fixture, linkCount } from "./workload.ts";

const { values: options } = parseArgs({
  options: {
    on: { type: "string", multiple: true, default: ["embedded", "shared"] },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "8" },
    profile: { type: "boolean", default: false },
    beside: { type: "string" },
  },
});
const rounds = Number(options.rounds);
const extent = `--duration=${options.seconds}`;

const fillAndCompare = async ({ own, peer, beside }: Contenders, fixtureFile: string) => {
  const contenders = [own, peer, ...(beside === null ? [] : [beside])];
  const servers = await Promise.all(contenders.map(({ start }) => start({ fixtureFile })));
  const [ownUrl, ...otherUrls] = servers.map(({ url }) => url) as [string, ...Array<string>];
  try {
    for (const otherUrl of otherUrls) {
      console.log(`${await compareAnswers(ownUrl, otherUrl)} requests are answered alike, field by field`);
    }
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()));
  }
};

const profile = async ({ start }: Contender, folder: string) => {
  const server = await start({ nodeOptions: ["--cpu-prof", `--cpu-prof-dir=${folder}`] });
  await driveOnce(server.url, 0, extent);
  await server.stop();
  console.log("\nThe server's own time by function, start included:");
  console.log((await hottestFunctions(folder, 40)).join("\n"));
};

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
};

/** Prints a ratio that is above 1 where ours is the better one. */
const report = (
  unit: string,
  own: ReadonlyArray<number>,
  peer: ReadonlyArray<number>,
  ratio: (ours: number, theirs: number) => number,
) => {
  const single = own.map((value, round) => ratio(value, peer[round] as number));
  console.log(
    `${unit}: median ${median(own).toFixed(1)} against ${median(peer).toFixed(1)}, ` +
      `ratio ${ratio(median(own), median(peer)).toFixed(2)}, ` +
      `in single rounds ${Math.min(...single).toFixed(2)} to ${Math.max(...single).toFixed(2)}`,
  );
};

/** Of the server and, where there are some, the databases. */
const wholeCost = ({ cost, postgres, redis }: Round): number =>
  Number.isNaN(postgres) ? cost : cost + postgres + redis;

const speedOf = ({ requestsPerSecond }: Round): number => requestsPerSecond;
const costOf = ({ cost }: Round): number => cost;
const halfOf = ({ p50 }: Round): number => p50;
const tailOf = ({ p99 }: Round): number => p99;
const higher = (ours: number, theirs: number): number => ours / theirs;
const lower = (ours: number, theirs: number): number => theirs / ours;

const note = (results: Array<Round>, name: string, result: Round) => {
  results.push(result);
  console.log(`round ${results.length}  ${name.padEnd(12)}${shown(result)}`);
};

const reportAll = (ours: ReadonlyArray<Round>, theirs: ReadonlyArray<Round>, hasDatabases: boolean) => {
  report("requests/s", ours.map(speedOf), theirs.map(speedOf), higher);
  report("µs of the server", ours.map(costOf), theirs.map(costOf), lower);
  if (hasDatabases) report("µs with its databases", ours.map(wholeCost), theirs.map(wholeCost), lower);
  report("p50 in ms", ours.map(halfOf), theirs.map(halfOf), lower);
  report("p99 in ms", ours.map(tailOf), theirs.map(tailOf), lower);
};

const compare = async ({ own, peer, beside }: Contenders, plan: RoundPlan) => {
  const [ours, theirs, bulks] = [[] as Array<Round>, [] as Array<Round>, [] as Array<Round>];
  const [others, otherBulks] = [[] as Array<Round>, [] as Array<Round>];
  const playOwn = async (contender: Contender, singles: Array<Round>, of50: Array<Round>, round: number) => {
    const { single, bulk } = await playRound(contender, ["single", "bulk"], round, plan);
    note(singles, contender.name, single);
    note(of50, "  bulks", bulk);
  };
  for (let round = 1; round <= rounds; round++) {
    await playOwn(own, ours, bulks, round);
    note(theirs, peer.name, (await playRound(peer, ["single"], round, plan)).single);
    if (beside !== null) await playOwn(beside, others, otherBulks, round);
  }
  const hasDatabases = plan.databaseTimes !== null;
  console.log(`\nbeside ${peer.name}`);
  reportAll(ours, theirs, hasDatabases);
  const inSpeed = median(ours.map(speedOf)) / median(bulks.map(speedOf));
  const inCost = (of: typeof costOf) => (median(bulks.map(of)) / median(ours.map(of))).toFixed(1);
  console.log(
    `a bulk of 50 in look-ups of one: ${inSpeed.toFixed(1)} by requests/s, ` +
      `${inCost(costOf)} by µs of the server, ${inCost(wholeCost)} with its databases`,
  );
  if (beside === null) return;
  console.log("\nbeside the other checkout");
  reportAll(ours, others, hasDatabases);
  console.log("bulks of 50");
  reportAll(bulks, otherBulks, hasDatabases);
};

const runOn = async (title: string, contenders: Contenders, folder: string, databases: Databases | null) => {
  console.log(`\n# ${title}\n`);
  await fillAndCompare(contenders, join(folder, "fixture.json"));
  await databases?.settle();
  await compare(contenders, { extent, databaseTimes: databases?.processorTimes ?? null });
  if (options.profile) await profile(contenders.own, await mkdtemp(join(folder, "profile-")));
};

const runShared = async (folder: string) => {
  const missing = await whyNoDatabases();
  if (missing !== null) {
    console.log(`\nNothing on Postgres and Redis ${missing}`);
    return;
  }
  const databases = await startDatabases();
  try {
    await runOn("Postgres and Redis", await shared(databases, options.beside), folder, databases);
  } finally {
    await databases.stop();
  }
};

const folder = await mkdtemp(join(tmpdir(), "accountlink-bench-"));
try {
  await writeFile(join(folder, "fixture.json"), JSON.stringify(fixture()));
  const processor = cpus()[0]?.model ?? "unknown processor";
  console.log(
    `${linkCount} links, ${availableParallelism()} processors (${processor}), Node ${process.version}`,
  );
  console.log(canPin ? "server and generator pinned to one processor each" : "nothing pinned: no taskset");
  if (options.on.includes("embedded")) {
    await runOn("Embedded", embedded(folder, options.beside), folder, null);
  }
  if (options.on.includes("shared")) await runShared(folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}
