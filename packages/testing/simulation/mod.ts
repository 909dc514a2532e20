/** A bot and the service in a simulated world, whose time, chance and faults are those of a seed. */
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
