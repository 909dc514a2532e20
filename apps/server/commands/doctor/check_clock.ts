import { type Finding, warn } from "./finding.ts";

/** A request to a server that is near takes some milliseconds, and clocks of NTP differ by less. */
const allowedMs = 1_000;

/** A request to a platform may take seconds. */
const allowedOfChatMs = 30_000;

/** Warns of a server's clock that differs from this machine's: deadlines would be read at another time than written. */
export const checkClock = (
  server: string,
  leadMs: number,
  advice = "Set both clocks by NTP: sessions and limits end by them",
): ReadonlyArray<Finding> => {
  if (Math.abs(leadMs) < allowedMs) return [];
  const apart = `${Math.round(Math.abs(leadMs) / 1_000)} s ${leadMs > 0 ? "ahead of" : "behind"} this machine's`;
  return [warn("clock", `the clock of ${server} is ${apart}`, advice)];
};

/** Warns of a clock by which the chat platform's commands are refused, or soon will be. */
export const checkChatClock = (leadMs: number | null): ReadonlyArray<Finding> =>
  leadMs === null || Math.abs(leadMs) < allowedOfChatMs
    ? []
    : checkClock(
        "the chat platform",
        leadMs,
        "Set this machine's clock by NTP: at 5 minutes, every command in chat is refused",
      );
