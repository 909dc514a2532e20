/** The active faults, at most one per platform. */
import type { Fault, Platform } from "../fault.ts";

export type Faults = ReturnType<typeof makeFaults>;

export const makeFaults = () => {
  const active = new Map<Platform, Fault>();

  return {
    /** Sets a fault, replacing earlier faults of the platforms that it affects. */
    set: (fault: Fault) => {
      if (fault.platform !== "game") active.set("chat", fault);
      if (fault.platform !== "chat") active.set("game", fault);
    },
    clear: () => active.clear(),
    /** Returns the fault that affects a request to this path, or null. Counts the request against the fault's `times`. */
    take: (platform: Platform, path: string) => {
      const fault = active.get(platform);
      if (fault === undefined || !path.startsWith(fault.under ?? "")) return null;
      if (fault.times === 1) active.delete(platform);
      else if (fault.times !== null) active.set(platform, { ...fault, times: fault.times - 1 });
      return fault;
    },
    current: () => ({ chat: active.get("chat") ?? null, game: active.get("game") ?? null }),
  };
};
