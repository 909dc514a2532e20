/** Requests of nodes to other services. */
import { latency, type Process } from "@accountlink/testing/simulation";
import { Effect, type Exit } from "effect";

/** How long nodes wait for an answer, in milliseconds. */
const patience = 3_000;

/**
 * Sends a request of a node to another service.
 *
 * @param timeout the error with which the request fails if the node gets no answer in time
 * @param answer makes the answer when the request arrives; null means that the answer is lost on its way back
 */
export const askService = <A, E>(
  node: Process,
  service: Process,
  timeout: E,
  answer: () => Exit.Exit<A, E> | null,
): Effect.Effect<A, E> =>
  Effect.callback((resume) => {
    const { world } = node;
    const stopWaiting = world.after(patience, node, () => resume(Effect.fail(timeout)));
    world.after(latency(world), service, () => {
      const exit = answer();
      if (exit === null) return;
      world.after(latency(world), node, () => {
        stopWaiting();
        resume(exit);
      });
    });
    return Effect.sync(stopWaiting);
  });
