/** What happens in a schedule: drawn from its seed, and made smaller when it fails. */
import { Chance } from "@accountlink/testing/simulation";
import { type ClientKind, clientKinds } from "./clients.ts";
import { type Fault, faultKinds, someFault } from "./faults.ts";

interface Step {
  /** How long it rests before, in milliseconds. */
  readonly pause: number;
  /** Decides what it does. */
  readonly seed: number;
}

export interface ClientPlan {
  readonly kind: ClientKind;
  readonly steps: ReadonlyArray<Step>;
}

export interface Plan {
  /** Decides in which order everything happens. */
  readonly seed: number;
  readonly nodes: number;
  readonly clients: ReadonlyArray<ClientPlan>;
  readonly faults: ReadonlyArray<Fault>;
}

/** How long clients are busy, about, in milliseconds: mostly short, and sometimes longer than counts take to be saved. */
const busyTimes = { limited: [2_500, 10_000, 14_000], others: [1_500, 2_500, 2_500, 10_000] };

/** Mostly two, which is enough for most of what can happen at once. */
const clientCounts = [1, 2, 2, 3];

const listOf = <A>(length: number, make: () => A): ReadonlyArray<A> => Array.from({ length }, make);

/** Mostly few, since two are enough for most of what can go wrong. */
const nodeCounts = [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4, 5];

/** What most of the faults of a schedule are about, where it needs several of them to go wrong. */
const topics: Partial<Record<ClientKind, RegExp>> = {
  limited: /Redis/,
  revoked: /clock set|signals|Redis/,
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
      // Clients of one kind meet each other.
      kind: chance.happens(0.8) ? focus : chance.pick(clientKinds),
      steps: listOf(steps, () => ({
        // At once with others, half of the time.
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
