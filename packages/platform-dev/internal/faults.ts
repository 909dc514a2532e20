/**
 * The faults that are on, at most one for each platform.
 */
import type { Fault, Platform } from "../fault.ts";

export interface Faults {
  /** Replaces the faults of the platforms that this one is for. */
  readonly set: (fault: Fault) => void;
  readonly clear: () => void;
  /** The fault for the next request of the platform to this path, or null. */
  readonly take: (platform: Platform, path: string) => Fault | null;
  /** What is on, with `times` counting what is left. */
  readonly show: () => Record<Platform, Fault | null>;
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
    show: () => ({ chat: active.get("chat") ?? null, game: active.get("game") ?? null }),
  };
};
