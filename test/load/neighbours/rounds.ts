/** Compares the neighbour's latencies beside an attack with those alone, in rounds of both. */
import { loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { Attack } from "./attacks.ts";
import { type Latencies, type Neighbour, operations } from "./neighbour.ts";

/**
 * How many times as slow the neighbour's requests may be at the 99th percentile, and how long they may always take, in
 * milliseconds. People feel no delay in that, and the other work of a machine takes a 10th of it at any time.
 */
const [most, anyTime] = [5, 100];

export interface Measured {
  readonly statuses: string;
  /** Whether the attacker got the expected answer, or its work ended. Without, nothing was compared. */
  readonly hasWorked: boolean;
  /** What refused a request of the neighbour. */
  readonly refusal: string | null;
  /** For each operation: how many times as slow it was, and its 99th percentiles in milliseconds. */
  readonly ratios: ReadonlyArray<number>;
  readonly alone: ReadonlyArray<number>;
  readonly beside: ReadonlyArray<number>;
  readonly rounds: number;
  /** The load of the machine, which says how much the figures are worth. */
  readonly load: number;
}

const isTooSlow = ({ refusal, ratios }: Measured): boolean => refusal !== null || Math.max(...ratios) > most;

export const isFailed = (measured: Measured): boolean => !measured.hasWorked || isTooSlow(measured);

/** How long the neighbour is measured alone and beside an attack in each round, in milliseconds. */
const [alone, beside] = [500, 1_200];

/** How many rounds a row gets that seems too slow in the first one. */
const [fewestRounds, mostRounds] = [3, 6];

/** How many of the last measurements alone are compared with. */
const kept = 8;

/** Attacks leave work behind. They are over when all operations together take no longer than this, in milliseconds. */
const quiet = 150;

/** How often it is asked whether an attack is over. */
const mostAttempts = 100;

export const makeRounds = (neighbour: Neighbour) => {
  let before: ReadonlyArray<Latencies> = [];
  let quickest = Infinity;

  /** Waits until nothing of an attack is left. On a busy machine, the quickest time so far is what nothing takes. */
  const settle = async (): Promise<boolean> => {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const began = performance.now();
      for (const operation of operations) await neighbour.run[operation]();
      const took = performance.now() - began;
      quickest = Math.min(quickest, took);
      if (took < Math.max(quiet, 2 * quickest)) return true;
      await pause(50);
    }
    return false;
  };

  const round = async (attack: Attack) => {
    const isSettled = await settle();
    const measured = await neighbour.measure(alone);
    if (isSettled || before.length === 0) before = [...before.slice(1 - kept), measured];
    const { isOver, stop } = await attack();
    const [measuring] = await Promise.allSettled([neighbour.measure(beside, isOver)]);
    return { measuring, ...(await stop()) };
  };

  /** Measures one round of an attack, and more while the attack seems too slow. */
  const compare = async (attack: Attack): Promise<Measured> => {
    const besides: Array<Latencies> = [];
    let hasWorked = false;
    for (let rounds = 1; ; rounds++) {
      const { measuring, statuses, ...attacked } = await round(attack);
      // Later rounds may find the work done, or a limit reached.
      hasWorked ||= attacked.hasWorked;
      const outcome = { statuses, hasWorked, rounds, load: loadavg()[0] ?? 0 };
      if (measuring.status === "rejected") {
        const refusal = String(measuring.reason);
        return { ...outcome, refusal, ratios: [], alone: [], beside: [] };
      }
      besides.push(measuring.value);
      const [quick, slow] = [before, besides].map((all) => operations.map((name) => typical(all, name)));
      const compared: Measured = {
        ...outcome,
        refusal: null,
        ratios: operations.map((_, index) => ratioOf(quick?.[index], slow?.[index])),
        alone: (quick ?? []).map(Math.round),
        beside: (slow ?? []).map(Math.round),
      };
      const isEnough = rounds === 1 || rounds >= fewestRounds;
      if ((!isTooSlow(compared) && isEnough) || !hasWorked || rounds === mostRounds) return compared;
    }
  };

  return { compare };
};

/**
 * The 99th percentile of an operation in the middle one of some measurements, the quicker one of two: other work of the
 * machine can only make a measurement slower.
 */
const typical = (all: ReadonlyArray<Latencies>, operation: keyof Latencies): number =>
  all.map((latencies) => p99(latencies[operation])).toSorted((one, other) => one - other)[
    Math.floor((all.length - 1) / 2)
  ] ?? Infinity;

const p99 = (latencies: ReadonlyArray<number>): number =>
  latencies.toSorted((one, other) => one - other)[Math.ceil(0.99 * latencies.length) - 1] ?? Infinity;

const ratioOf = (quick = Infinity, slow = Infinity): number =>
  Math.round((10 * slow) / Math.max(anyTime / most, quick)) / 10;
