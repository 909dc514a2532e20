/** Simulates a bot and the service. A seed decides the passage of time, the random numbers and the faults. */
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
