import type { FlowId } from "@accountlink/core/ids";
import type { Memory } from "../state/state.ts";

/** Removes a flow with its challenges. */
export const endFlow = (memory: Memory, id: FlowId): void => {
  memory.flows.delete(id);
  for (const { stateHash, flow } of memory.challenges.values()) {
    if (flow === id) memory.challenges.delete(stateHash);
  }
};
