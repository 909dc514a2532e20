/**
 * The bench: workloads of the real server with 100,000 links beside peers by hand that do the same work for a request, on
 * each deployment. All contenders of a workload are started and warmed, then driven in turn, and their answers are compared
 * before anything is measured. It judges nothing: a busy machine would fail it, so it only prints. With `--latency`
 * Postgres and Redis are so far away in each direction. With `--profile` it measures nothing, and prints where ours spends
 * its time.
 *
 * Usage: `npm run bench -- [--on=memory|embedded|shared]…
 * [--work=start|hit|miss|unlinked|guild|game|bulk|patch|mixed]… [--against=NAME]…
 * [--connections=1|32|256|half|lone]… [--rounds=3] [--seconds=1] [--latency=MILLISECONDS] [--beside=CHECKOUT]
 * [--json=FILE] [--profile]`
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Contender, Places } from "./contender.ts";
import { contendersOf, type Deployment, deployments, ownName } from "./contenders.ts";
import { hottestFunctions } from "./cpu_profile.ts";
import { startDatabases, whyNoDatabases } from "./databases.ts";
import { fixture, linkCount, platformFixture } from "./fixture.ts";
import { type Load, measure, type Plan } from "./measure.ts";
import {
  bulkLine,
  ratiosOf,
  ratioTable,
  resultsAsJson,
  startTable,
  tableOf,
  type WorkResult,
} from "./report.ts";
import { answersOf, expectSameAnswers } from "./same_answers.ts";
import { canPin, startGenerator } from "./server_process.ts";
import { measureStarts } from "./starts.ts";
import { type Work, workloads } from "./workloads.ts";

const several = { type: "string", multiple: true } as const;
const { values: options } = parseArgs({
  options: {
    on: { ...several, default: [...deployments] },
    work: { ...several, default: ["start", ...Object.keys(workloads)] },
    against: several,
    connections: { ...several, default: ["1", "32", "256", "half", "lone"] },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "1" },
    beside: { type: "string" },
    latency: { type: "string", default: "0" },
    json: { type: "string" },
    profile: { type: "boolean", default: false },
  },
});
const works = options.work.filter((work) => work !== "start") as ReadonlyArray<Work>;
const isChosen = ({ name, isAlike }: Contender) =>
  options.against === undefined ||
  options.against.includes(name) ||
  [ownName, "beside"].includes(name) ||
  !isAlike;

/** Fills every storage, and compares the answers while all are as they were filled. */
const fillAndCompare = async (contenders: ReadonlyArray<Contender>) => {
  let ours: Awaited<ReturnType<typeof answersOf>> | null = null;
  for (const { name, isAlike, start } of contenders) {
    const server = await start({ isFirst: true });
    try {
      if (!isAlike) continue;
      const answers = await answersOf(server.url);
      if (ours !== null) expectSameAnswers(ours, name, answers);
      ours ??= answers;
    } finally {
      await server.stop();
    }
  }
  console.log(
    `${contenders.filter(({ isAlike }) => isAlike).length} contenders give the same ${ours?.length} answers`,
  );
};

const measureAll = async (
  on: Deployment,
  contenders: ReadonlyArray<Contender>,
  plan: Plan,
): Promise<ReadonlyArray<WorkResult>> => {
  const results: Array<WorkResult> = [];
  for (const work of works) {
    const asked = contenders.filter((contender) => contender.works?.includes(work) ?? true);
    const rounds = await measure(asked, work, plan);
    results.push({ on, work, rounds });
    console.log(`\n${tableOf({ on, work, rounds })}\n`);
  }
  return results;
};

const profile = async ({ name, start }: Contender, plan: Plan, folder: string) => {
  for (const work of works) {
    const into = await mkdtemp(join(folder, "profile-"));
    const server = await start({ isFirst: false, nodeOptions: ["--cpu-prof", `--cpu-prof-dir=${into}`] });
    const drive = (requests: number) =>
      plan.generator.drive({
        url: server.url,
        work,
        connections: 32,
        rate: null,
        until: { requests },
        seed: 1,
      });
    await drive(workloads[work].warmUp);
    const since = Number(process.hrtime.bigint() / 1_000n);
    await drive(5 * workloads[work].warmUp);
    await server.stop();
    console.log(`\n${work}, ${name}: the server's own time by function, once it is warm`);
    console.log((await hottestFunctions(into, 40, since)).join("\n"));
  }
};

const runOn = async (on: Deployment, places: Places, plan: Plan): Promise<ReadonlyArray<WorkResult>> => {
  console.log(`\n# ${on}`);
  const contenders = (await contendersOf(on, places)).filter(isChosen);
  await fillAndCompare(contenders);
  await places.databases?.settle();
  if (!options.profile) {
    if (options.work.includes("start")) {
      const asked = contenders.filter(({ isAlike }) => isAlike);
      console.log(`\n${startTable(on, await measureStarts(asked, plan))}\n`);
    }
    return measureAll(on, contenders, plan);
  }
  for (const contender of contenders.filter(({ isAlike }) => isAlike))
    await profile(contender, plan, places.folder);
  return [];
};

const runAll = async (places: Places, plan: Plan) => {
  const results: Array<WorkResult> = [];
  for (const on of options.on as ReadonlyArray<Deployment>) {
    const { databases } = places;
    if (on !== "shared") results.push(...(await runOn(on, { ...places, databases: null }, plan)));
    else if (databases !== null) {
      results.push(...(await runOn(on, places, { ...plan, databaseTimes: databases.processorTimes })));
    }
  }
  return results;
};

const processor = `${availableParallelism()} processors (${cpus()[0]?.model ?? "unknown"}), Node ${process.version}`;

const report = async (results: ReadonlyArray<WorkResult>) => {
  const ratios = ratiosOf(results);
  console.log(
    `\n# All\n\n${results.map(tableOf).join("\n\n")}\n\n${ratioTable(ratios)}\n${bulkLine(results)}`,
  );
  if (options.json === undefined) return;
  const document = { processor, linkCount, options, ratios, results: resultsAsJson(results) };
  await writeFile(options.json, `${JSON.stringify(document, null, 2)}\n`);
};

const startWanted = async () => {
  if (!options.on.includes("shared")) return null;
  const missing = await whyNoDatabases();
  if (missing !== null) console.log(`Nothing on Postgres and Redis ${missing}`);
  return missing === null ? startDatabases(Number(options.latency)) : null;
};

const stopped = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => reject(new Error(`Stopped by ${signal}`)));
});
const folder = await mkdtemp(join(tmpdir(), "accountlink-bench-"));
const generator = startGenerator();
const databases = await startWanted();
try {
  const fixtures = { full: join(folder, "full.json"), platform: join(folder, "platform.json") };
  await writeFile(fixtures.full, JSON.stringify(fixture()));
  await writeFile(fixtures.platform, JSON.stringify(platformFixture()));
  console.log(`${linkCount} links, ${processor}`);
  console.log(canPin ? "servers and generator pinned to one processor each" : "nothing pinned: no taskset");
  const loads = options.connections as ReadonlyArray<Load>;
  const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];
  const plan = { generator, loads, rounds, seconds, databaseTimes: null };
  const places = { folder, fixtures, databases, beside: options.beside };
  const results = await Promise.race([runAll(places, plan), stopped]);
  if (!options.profile) await report(results);
} finally {
  generator.stop();
  await databases?.stop();
  await rm(folder, { recursive: true, force: true });
}
