/**
 * The bench: compares the real server with a hand-written peer that does the same work for each request, with 100,000
 * links on each deployment. First, it checks that all contenders give the same answers. Then, in each round of each
 * workload, it starts and warms all contenders, and measures them in turn. It compares no result with a limit, since a
 * busy machine could exceed any limit. `--latency` delays data to and from Postgres and Redis by this many
 * milliseconds. `--profile` records a profile of each server instead of measuring.
 *
 * Usage: `npm run bench -- [--on=memory|embedded|shared]… [--work=start|hit|miss|guild|game|bulk|patch|keyed|mixed]…
 * [--against=NAME]… [--connections=1|32|256|half|lone]… [--rounds=3] [--seconds=1] [--latency=MILLISECONDS]
 * [--beside=CHECKOUT]… [--json=FILE] [--profile]`
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type Contender,
  contendersOf,
  type Deployment,
  nameOf,
  ownName,
  type Places,
  titles,
} from "./contenders.ts";
import { startDatabases, whyNoDatabases } from "./databases.ts";
import { fixture, linkCount, platformFixture } from "./dataset.ts";
import { measure, measureStarts, type Plan } from "./measure.ts";
import { ratiosOf, ratioTable, tableOf, type WorkResult } from "./report.ts";
import { answersOf, expectSameAnswers } from "./same_answers.ts";
import { canPin, startGenerator } from "./server_process.ts";
import { type Work, workloads } from "./workloads.ts";

const several = { type: "string", multiple: true } as const;
const { values: options } = parseArgs({
  options: {
    on: { ...several, default: Object.keys(titles) },
    work: { ...several, default: ["start", ...Object.keys(workloads)] },
    against: several,
    connections: { ...several, default: ["1", "32", "256", "half", "lone"] },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "1" },
    beside: { ...several, default: [] },
    latency: { type: "string", default: "0" },
    json: { type: "string" },
    profile: { type: "boolean", default: false },
  },
});
const unknown = options.on.filter((on) => !(on in titles));
if (unknown.length > 0) {
  console.error(`Cannot run the bench: --on is "${unknown[0]}", expected ${Object.keys(titles).join(", ")}`);
  process.exit(1);
}

/** Fills every storage, and compares the answers before any workload changes the data. */
const fillAndCompare = async (contenders: ReadonlyArray<Contender>) => {
  const all: Array<ReadonlyArray<unknown>> = [];
  for (const { name, start } of contenders) {
    const server = await start(true);
    all.push(await answersOf(server.url));
    expectSameAnswers(name, all);
    await server.stop();
  }
  console.log(`${contenders.length} contenders give the same ${all[0]?.length} answers`);
};

const profile = async ({ name, start }: Contender, work: Work, on: Deployment, { generator }: Plan) => {
  const folder = resolve("dist/profiles", `${on}-${work}-${name}`);
  const server = await start(false, ["--cpu-prof", `--cpu-prof-dir=${folder}`]);
  const until = { requests: 6 * workloads[work].warmUp };
  await generator.drive({ url: server.url, work, connections: 32, rate: null, until, seed: 1 });
  await server.stop();
  console.log(`${work}, ${name}: ${folder}`);
};

const besides = options.beside.map((checkout) => resolve(checkout));
const isChosen = (name: string) =>
  [ownName, ...besides.map(nameOf), ...(options.against ?? [name])].includes(name);

const runOn = async (on: Deployment, places: Places, plan: Plan): Promise<ReadonlyArray<WorkResult>> => {
  console.log(`\n# ${titles[on]}`);
  const contenders = (await contendersOf(on, places)).filter(({ name }) => isChosen(name));
  await fillAndCompare(contenders);
  await places.databases?.settle();
  const results: Array<WorkResult> = [];
  for (const work of options.work as ReadonlyArray<Work | "start">) {
    if (options.profile) {
      if (work !== "start") for (const contender of contenders) await profile(contender, work, on, plan);
      continue;
    }
    const rounds =
      work === "start" ? await measureStarts(contenders, plan) : await measure(contenders, work, plan);
    results.push({ on, work, rounds });
    console.log(`\n${tableOf({ on, work, rounds })}\n`);
  }
  return results;
};

const runAll = async (places: Places, plan: Plan) => {
  const results: Array<WorkResult> = [];
  for (const on of options.on as ReadonlyArray<Deployment>) {
    const databases = on === "shared" ? places.databases : null;
    if (on === "shared" && databases === null) continue;
    const databaseTimes = databases?.processorTimes ?? null;
    results.push(...(await runOn(on, { ...places, databases }, { ...plan, databaseTimes })));
  }
  return results;
};

const processor = `${availableParallelism()} processors (${cpus()[0]?.model ?? "unknown"}), Node ${process.version}`;

const report = async (results: ReadonlyArray<WorkResult>) => {
  const ratios = ratiosOf(results);
  console.log(`\n${ratioTable(ratios)}`);
  if (options.json === undefined) return;
  const document = { processor, linkCount, options, ratios, results };
  await writeFile(options.json, `${JSON.stringify(document, null, 2)}\n`);
};

const stopped = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => reject(new Error(`Stopped by ${signal}`)));
});
const folder = await mkdtemp(join(tmpdir(), "accountlink-bench-"));
const generator = startGenerator();
const missing = await whyNoDatabases();
if (missing !== null) console.log(`No bench on Postgres and Redis ${missing}`);
const isShared = options.on.includes("shared") && missing === null;
const databases = isShared ? await startDatabases(Number(options.latency)) : null;
try {
  const fixtures = { full: join(folder, "full.json"), platform: join(folder, "platform.json") };
  await writeFile(fixtures.full, JSON.stringify(fixture()));
  await writeFile(fixtures.platform, JSON.stringify(platformFixture()));
  console.log(`${linkCount} links, ${processor}`);
  console.log(canPin ? "servers and generator pinned to one processor each" : "nothing pinned: no taskset");
  const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];
  const plan = { generator, loads: options.connections, rounds, seconds, databaseTimes: null };
  const places = { folder, fixtures, databases, besides };
  const results = await Promise.race([runAll(places, plan), stopped]);
  if (!options.profile) await report(results);
} finally {
  generator.stop();
  await databases?.stop();
  await rm(folder, { recursive: true, force: true });
}
