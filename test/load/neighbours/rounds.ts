/** Compares the neighbour's latencies beside an attack with those alone, in rounds of both. */
import { setTimeout as pause } from "node:timers/promises";
import type { Attacking } from "./attacks.ts";
import { type Latencies, type Neighbour, operations } from "./neighbour.ts";

/** How many times as slow the neighbour's requests may be at the 99th percentile. */
const most = 5;

/**
 * Shorter times count as this one, in milliseconds, so that an answer may always take 100 ms. People feel no delay in
 * that, and the other work of a machine takes a 10th of it at any time.
 */
const least = 20;

export interface Measured {
  readonly statuses: string;
  /** What refused a request of the neighbour. */
  readonly refusal: string | null;
  /** For each operation: how many times as slow it was, and its 99th percentiles in milliseconds. */
  readonly ratios: ReadonlyArray<number>;
  readonly alone: ReadonlyArray<number>;
  readonly beside: ReadonlyArray<number>;
  /** How many times the rarest operation was measured beside the attack. */
  readonly samples: number;
}

export const isTooSlow = ({ refusal, ratios }: Measured): boolean =>
  refusal !== null || Math.max(...ratios) > most;

/** How long the neighbour is measured alone and beside an attack in each round, in milliseconds. */
const [alone, beside] = [400, 1_000];

/** The rounds of a row that seems too slow end with so many samples of each operation, or after so many rounds. */
const [enough, mostRounds] = [100, 8];

/** How many of the last measurements alone are compared with. */
const kept = 4;

/** Attacks leave work behind. They are over when all operations together take no longer than this, in milliseconds. */
const quiet = 150;

export const makeRounds = (neighbour: Neighbour) => {
  let before: ReadonlyArray<Latencies> = [];

  const settle = async () => {
    for (let attempt = 0; attempt < 20; attempt++) {
      const began = performance.now();
      for (const operation of operations) await neighbour.run[operation]();
      if (performance.now() - began < quiet) return;
      await pause(100);
    }
  };

  const round = async (attack: () => Promise<Attacking>) => {
    before = [...before.slice(1 - kept), await neighbour.measure(alone)];
    const { isOver, stop } = await attack();
    const [measuring] = await Promise.allSettled([neighbour.measure(beside, isOver)]);
    const statuses = await stop();
    await settle();
    if (measuring.status === "rejected") throw new Error(statuses, { cause: measuring.reason });
    return { latencies: measuring.value, statuses };
  };

  const measure = async (attack: () => Promise<Attacking>, rounds: number): Promise<Measured> => {
    const measured: Array<Latencies> = [];
    let statuses = "";
    try {
      while (measured.length < rounds && samplesOf(measured) < enough) {
        const next = await round(attack);
        measured.push(next.latencies);
        statuses = next.statuses;
      }
    } catch (error) {
      const { message, cause } = error as Error;
      const refusal = cause instanceof Error ? cause.message : "";
      return { statuses: message, refusal, ratios: [], alone: [], beside: [], samples: 0 };
    }
    const [quick, slow] = [before, measured].map((all) => operations.map((name) => p99(pooled(all, name))));
    return {
      statuses,
      refusal: null,
      ratios: operations.map((_, index) => ratioOf(quick?.[index], slow?.[index])),
      alone: (quick ?? []).map(Math.round),
      beside: (slow ?? []).map(Math.round),
      samples: samplesOf(measured),
    };
  };

  return {
    /** Measures one round of an attack, and as many more as it takes to know if that one seems too slow. */
    compare: async (attack: () => Promise<Attacking>): Promise<Measured> => {
      const first = await measure(attack, 1);
      return isTooSlow(first) ? measure(attack, mostRounds) : first;
    },
  };
};

const pooled = (all: ReadonlyArray<Latencies>, operation: keyof Latencies) =>
  all.flatMap((latencies) => latencies[operation]);

const samplesOf = (all: ReadonlyArray<Latencies>): number =>
  Math.min(...operations.map((operation) => pooled(all, operation).length));

const p99 = (latencies: ReadonlyArray<number>): number =>
  latencies.toSorted((one, other) => one - other)[Math.ceil(0.99 * latencies.length) - 1] ?? Infinity;

const ratioOf = (quick = Infinity, slow = Infinity): number =>
  Math.round((10 * slow) / Math.max(least, quick)) / 10;
