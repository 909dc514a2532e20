import { type Finding, warn } from "./finding.ts";

/** A request to a server that is near takes some milliseconds, and clocks of NTP differ by less. */
const allowedMs = 1_000;

/** Warns of a server's clock that differs from this machine's: deadlines would be read at another time than written. */
export const checkClock = (server: string, leadMs: number): ReadonlyArray<Finding> => {
  if (Math.abs(leadMs) < allowedMs) return [];
  const apart = `${Math.round(Math.abs(leadMs) / 1_000)} s ${leadMs > 0 ? "ahead of" : "behind"} this machine's`;
  return [
    warn(
      "clock",
      `the clock of ${server} is ${apart}`,
      "Set both clocks by NTP: sessions and limits end by them",
    ),
  ];
};
