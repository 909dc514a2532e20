/**
 * What happens in a schedule: drawn from its seed, and made smaller when it fails.
 */
import { Chance } from "./chance.ts";
import { type ClientKind, clientKinds } from "./clients.ts";
import { type Fault, someFault } from "./faults.ts";

/** Something that a client does. */
export interface Step {
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

/** How long clients are busy, about. In milliseconds. */
const busyTime = 3_000;

const listOf = <A>(length: number, make: () => A): ReadonlyArray<A> => Array.from({ length }, make);

/** The schedule of a seed. */
export const planOf = (seed: number): Plan => {
  const chance = new Chance(seed);
  const nodes = 1 + chance.below(5);
  const clients = listOf(1 + chance.below(4), (): ClientPlan => {
    const steps = 2 + chance.below(4);
    const pause = busyTime / steps;
    return {
      kind: chance.pick(clientKinds),
      steps: listOf(steps, () => ({
        pause: Math.floor(chance.fraction() * 2 * pause),
        seed: chance.bits(),
      })),
    };
  });
  const faults = listOf(chance.below(5), () => someFault(chance, nodes, busyTime));
  return { seed: chance.bits(), nodes, clients, faults };
};
