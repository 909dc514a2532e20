/** Simulates a bot and the service, with time, chance and faults that a seed decides. */
export { Chance } from "./chance.ts";
export { Postgres, Redis } from "./ports.ts";
export { latency, Server } from "./server.ts";
export {
  type Services,
  type SimulatedProcess,
  type SimulatedServer,
  Simulation,
  type SimulationOptions,
  simulate,
} from "./simulate.ts";
export { Process, World } from "./world.ts";
