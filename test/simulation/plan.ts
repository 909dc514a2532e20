/**
 * Makes the plan of a schedule from its seed: the clients, their steps, and the faults. If the schedule fails,
 * `shrink.ts` removes the parts of the plan that the failure does not need.
 */
import { Chance } from "@accountlink/testing/simulation";
import { type ClientKind, clientKinds } from "./clients.ts";
import { type Fault, faultKinds, someFault } from "./faults.ts";

interface Step {
  /** Pause before the step, in milliseconds. */
  readonly pause: number;
  /** Decides which requests the step sends. */
  readonly seed: number;
}

export interface ClientPlan {
  readonly kind: ClientKind;
  readonly steps: ReadonlyArray<Step>;
}

export interface Plan {
  /** Decides the order of events. */
  readonly seed: number;
  readonly nodes: number;
  readonly clients: ReadonlyArray<ClientPlan>;
  readonly faults: ReadonlyArray<Fault>;
}

/**
 * Each plan picks one of these times, in milliseconds, for which its clients send requests. The longest times exceed
 * the interval at which nodes save counts.
 */
const busyTimes = { limited: [2_500, 10_000, 14_000], others: [1_500, 2_500, 2_500, 10_000] };

/** Each plan picks its number of clients here. Half of the plans have two, which suffice for most races. */
const clientCounts = [1, 2, 2, 3];

const listOf = <A>(length: number, make: () => A): ReadonlyArray<A> => Array.from({ length }, make);

/** Each plan picks its number of nodes here. Most plans have two, which suffice for most failures. */
const nodeCounts = [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4, 5];

/**
 * Some kinds of clients find broken promises only if several related faults happen together. A plan that focuses on
 * such a kind gets mostly faults whose names match its pattern.
 */
const topics: Partial<Record<ClientKind, RegExp>> = {
  limited: /Redis/,
  revoked: /clock set|signals|Redis/,
  roles: /nickname|killed|frozen|suspended/,
  feed: /signals|Redis (?:down|restarted)/,
};

export const planOf = (seed: number): Plan => {
  const chance = new Chance(seed);
  const nodes = chance.pick(nodeCounts);
  const focus = chance.pick(clientKinds);
  const busyTime = chance.pick(busyTimes[focus === "limited" ? "limited" : "others"]);
  const clients = listOf(chance.pick(clientCounts), (): ClientPlan => {
    const steps = 1 + chance.below(3);
    const pause = busyTime / steps;
    return {
      // Most clients have the same kind, because clients of one kind compete for the same data.
      kind: chance.happens(0.8) ? focus : chance.pick(clientKinds),
      steps: listOf(steps, () => ({
        // Half of the steps begin almost at once, so that they race with steps of other clients.
        pause: chance.happens(0.5) ? chance.below(10) : Math.floor(chance.fraction() * 2 * pause),
        seed: chance.bits(),
      })),
    };
  });
  const topical = faultKinds.filter((kind) => topics[focus]?.test(kind) ?? true);
  const usual = chance.pick(topical);
  const faults = listOf(chance.below(5), () => {
    const kind = chance.happens(0.4) ? usual : chance.pick(chance.happens(0.5) ? topical : faultKinds);
    return someFault(chance, kind, nodes, busyTime);
  });
  return { seed: chance.bits(), nodes, clients, faults };
};
