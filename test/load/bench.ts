/**
 * The load bench: `GET /v2/chat` of the real server on embedded storage with 100,000 links, beside a Fastify app that
 * does the same work for a request. Both are started anew for each round, the rounds alternate, and the answers are
 * compared before anything is measured. It judges nothing: a busy machine would fail it, so it only prints.
 *
 * Usage: `node test/load/bench.ts [--rounds=5] [--seconds=8] [--profile]`
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { hottestFunctions } from "./cpu_profile.ts";
import type { Drive } from "./drive.ts";
import { compareAnswers } from "./same_answers.ts";
import { canPin, pinned, type RunningServer, startServer } from "./server_process.ts";
import { fixture, linkCount, unreachedAddressLimits } from "./workload.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "8" },
    profile: { type: "boolean", default: false },
  },
});
const rounds = Number(options.rounds);
const measured = `--duration=${options.seconds}`;
/** Counted in requests: a busy machine needs longer until the runtime has compiled what it is going to compile. */
const warmUp = "--amount=60000";

const here = import.meta.dirname;

interface Contender {
  readonly name: string;
  /** @param fixtureFile what to fill the storage with at first */
  readonly start: (options?: {
    readonly fixtureFile?: string;
    readonly nodeOptions?: ReadonlyArray<string>;
  }) => Promise<RunningServer>;
}

const contendersIn = (folder: string): readonly [Contender, Contender] => [
  {
    name: "accountlink",
    start: ({ fixtureFile, nodeOptions = [] } = {}) =>
      startServer([...nodeOptions, join(here, "../../apps/server/main.ts"), "serve"], {
        ...unreachedAddressLimits,
        ACCOUNTLINK_PORT: "0",
        ACCOUNTLINK_STORAGE: "embedded",
        ACCOUNTLINK_DATA_DIR: join(folder, "data"),
        ACCOUNTLINK_PLATFORM: "dev",
        ...(fixtureFile === undefined ? {} : { ACCOUNTLINK_FIXTURE: fixtureFile }),
      }),
  },
  {
    name: "fastify",
    start: ({ fixtureFile } = {}) =>
      startServer(
        [
          join(here, "peer_fastify.ts"),
          join(folder, "peer.db"),
          ...(fixtureFile === undefined ? [] : [fixtureFile]),
        ],
        {},
      ),
  },
];

const driveOnce = async (url: string, seed: number, extent: string): Promise<Drive> => {
  const [command, args] = pinned("generator", [join(here, "drive.ts"), url, String(seed), extent]);
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(await text(child.stdout)) as Drive;
};

/** What one round of one server came to. */
interface Round extends Drive {
  /**
   * Processor time of the server for one request, in microseconds. It hardly notices who else uses the machine. Not a
   * number where the system does not tell.
   */
  readonly cost: number;
  /** Share of a processor that the server had. Far below 1, something else set the pace. */
  readonly load: number;
}

const measure = async ({ start }: Contender, round: number): Promise<Round> => {
  const server = await start();
  try {
    await driveOnce(server.url, 2 * round, warmUp);
    const before = server.processorTime();
    const drive = await driveOnce(server.url, 2 * round + 1, measured);
    const after = server.processorTime();
    const used = before === null || after === null ? Number.NaN : after - before;
    return { ...drive, cost: (used / drive.requests) * 1e6, load: used / drive.seconds };
  } finally {
    await server.stop();
  }
};

const fillAndCompare = async (contenders: readonly [Contender, Contender], fixtureFile: string) => {
  const servers = await Promise.all(contenders.map(({ start }) => start({ fixtureFile })));
  const [one, other] = servers.map(({ url }) => url) as [string, string];
  try {
    console.log(`${await compareAnswers(one, other)} requests are answered alike, field by field`);
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()));
  }
};

const profile = async ({ start }: Contender, folder: string) => {
  const server = await start({ nodeOptions: ["--cpu-prof", `--cpu-prof-dir=${folder}`] });
  await driveOnce(server.url, 0, measured);
  await server.stop();
  console.log("\nThe server's own time by function, start included:");
  console.log((await hottestFunctions(folder, 40)).join("\n"));
};

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
};

const speed = ({ requests, seconds }: Drive): number => requests / seconds;

const shown = (round: Round): string => {
  const { cost, load, p50, p99, failed } = round;
  return (
    `${speed(round).toFixed(0).padStart(6)} requests/s  ${cost.toFixed(1).padStart(5)} µs each  ` +
    `server at ${(load * 100).toFixed(0)} %  p50 ${p50} ms  p99 ${p99} ms${failed > 0 ? `  ${failed} FAILED` : ""}`
  );
};

const run = async (folder: string) => {
  const fixtureFile = join(folder, "fixture.json");
  await writeFile(fixtureFile, JSON.stringify(fixture()));
  const contenders = contendersIn(folder);
  const processor = cpus()[0]?.model ?? "unknown processor";
  console.log(
    `${linkCount} links, ${availableParallelism()} processors (${processor}), Node ${process.version}`,
  );
  console.log(canPin ? "server and generator pinned to one processor each" : "nothing pinned: no taskset");
  await fillAndCompare(contenders, fixtureFile);

  const [own, peer] = [[] as Array<Round>, [] as Array<Round>];
  for (let round = 1; round <= rounds; round++) {
    for (const [contender, results] of [[contenders[0], own] as const, [contenders[1], peer] as const]) {
      const result = await measure(contender, round);
      results.push(result);
      console.log(`round ${round}  ${contender.name.padEnd(12)}${shown(result)}`);
    }
  }
  report("requests/s", own.map(speed), peer.map(speed), (ours, theirs) => ours / theirs);
  report("µs each", own.map(costOf), peer.map(costOf), (ours, theirs) => theirs / ours);
  if (options.profile) await profile(contenders[0], join(folder, "profile"));
};

const costOf = ({ cost }: Round): number => cost;

/** The ratio is above 1 where ours is the better one. */
const report = (
  unit: string,
  own: ReadonlyArray<number>,
  peer: ReadonlyArray<number>,
  ratio: (ours: number, theirs: number) => number,
) => {
  const single = own.map((value, round) => ratio(value, peer[round] as number));
  console.log(
    `\n${unit}: median ${median(own).toFixed(1)} against ${median(peer).toFixed(1)}\n` +
      `ratio ${ratio(median(own), median(peer)).toFixed(2)}, ` +
      `in single rounds ${Math.min(...single).toFixed(2)} to ${Math.max(...single).toFixed(2)}`,
  );
};

const folder = await mkdtemp(join(tmpdir(), "accountlink-bench-"));
try {
  await run(folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}
