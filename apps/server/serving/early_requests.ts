/**
 * Requests that arrive before the server can answer. Its port is open by then, since its handlers need the URL.
 */
import type { Server } from "node:http";

/**
 * Holds the requests of a server that has no handlers yet. Node would leave them without an answer.
 *
 * @returns gives them to the handlers, once these are there
 */
export const holdRequests = (node: Server): (() => void) => {
  const held: Array<Emission> = [];
  const emit: (...emission: Emission) => boolean = node.emit.bind(node);
  // In place of a listener, beside which some of the handlers would already see a request.
  node.emit = (...emission: Emission) => {
    if (emission[0] !== "request" && emission[0] !== "checkContinue") return emit(...emission);
    held.push(emission);
    return true;
  };
  return () => {
    node.emit = emit;
    for (const emission of held) emit(...emission);
  };
};

type Emission = [event: string, ...values: Array<unknown>];
