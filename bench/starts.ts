/** Measures how contenders start: what users live through after a deployment. */
import { setTimeout } from "node:timers/promises";
import type { Contender } from "./contender.ts";
import { driveServer, lineOf, type Measured, type Plan } from "./measure.ts";

/** One start of one server, with what its first requests came to. */
export interface Start extends Measured {
  /** Milliseconds to the ready line. */
  readonly startTime: number;
  /** Resident memory before the first request, in megabytes. */
  readonly idleMemory: number;
}

/** By contender. */
export type StartRound = ReadonlyMap<string, Start>;

/** How many requests are the first ones. */
export const firstRequests = 5_000;

const connections = 32;

/** How long a server is idle before its memory is read, in milliseconds. */
const settlingTime = 2_000;

/** Starts each contender in turn, for some rounds, and asks it what nobody has asked before. */
export const measureStarts = async (
  contenders: ReadonlyArray<Contender>,
  plan: Plan,
): Promise<ReadonlyArray<StartRound>> => {
  const rounds: Array<StartRound> = [];
  for (let round = 0; round < plan.rounds; round++) {
    const starts = new Map<string, Start>();
    for (let turn = 0; turn < contenders.length; turn++) {
      const { name, start } = contenders[(turn + round) % contenders.length] as Contender;
      const server = await start({ isFirst: false });
      await setTimeout(settlingTime);
      const idleMemory = (server.memory() ?? Number.NaN) / 2 ** 20;
      const until = { requests: firstRequests };
      const how = { work: "hit", connections, rate: null, until, seed: round + 1 } as const;
      const first = await driveServer(server, how, plan);
      await server.stop();
      starts.set(name, { ...first, startTime: server.startTime, idleMemory });
      const line = `${server.startTime.toFixed(0)} ms, ${idleMemory.toFixed(0)} MB idle`;
      console.log(`  start of ${name}: ${line}, then ${lineOf(first)}`);
    }
    rounds.push(starts);
  }
  return rounds;
};
