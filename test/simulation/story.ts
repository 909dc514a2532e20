/** Formats a failed schedule: the broken promise, then the actions of nodes and clients by time. */
import type { Failure } from "./shrink.ts";

export const storyOf = (seed: number, { plan, run }: Failure): string =>
  [
    `Seed ${seed} breaks a promise. Repeat it with: npm run simulate -- --seed=${seed}`,
    ...run.broken.map(({ promise, how }) => `\n${promise}:\n${how}`),
    `\n${plan.nodes} nodes, ${plan.clients.length} clients, ${plan.faults.length} faults:`,
    ...run.story,
  ].join("\n");
