/** The active faults, at most one per platform. */
import type { Fault, Platform } from "../fault.ts";

export interface Faults {
  /** Sets a fault, replacing earlier faults of the platforms that it affects. */
  readonly set: (fault: Fault) => void;
  readonly clear: () => void;
  /** Returns the fault that affects a request to this path, or null. Counts the request against the fault's `times`. */
  readonly take: (platform: Platform, path: string) => Fault | null;
  readonly current: () => Record<Platform, Fault | null>;
}

export const makeFaults = (): Faults => {
  const active = new Map<Platform, Fault>();

  return {
    set: (fault) => {
      if (fault.platform !== "game") active.set("chat", fault);
      if (fault.platform !== "chat") active.set("game", fault);
    },
    clear: () => active.clear(),
    take: (platform, path) => {
      const fault = active.get(platform);
      if (fault === undefined || !path.startsWith(fault.under ?? "")) return null;
      if (fault.times === 1) active.delete(platform);
      else if (fault.times !== null) active.set(platform, { ...fault, times: fault.times - 1 });
      return fault;
    },
    current: () => ({ chat: active.get("chat") ?? null, game: active.get("game") ?? null }),
  };
};
