/** Detects that the process is out of file descriptors. libuv then closes new connections without an error in Node. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { Effect, Schedule } from "effect";

/** Logs when the process is out of file descriptors, and when it recovers. */
export const watchFileDescriptors = Effect.suspend(() => {
  let isOut = false;
  const look = Effect.suspend(() => {
    const refusal = refusalToOpen();
    if (isOut === (refusal !== null)) return Effect.void;
    isOut = refusal !== null;
    return isOut
      ? Effect.logError(
          `Out of file descriptors (${refusal}): connections are refused, expected a higher limit (ulimit -n, or LimitNOFILE of systemd)`,
        )
      : Effect.logInfo("File descriptors are available again");
  });
  return Effect.repeat(look, Schedule.spaced("1 second"));
});

/**
 * Returns `EMFILE` if the process has reached its limit, `ENFILE` if the machine has reached its limit, otherwise null.
 */
const refusalToOpen = (): string | null => {
  try {
    closeSync(openSync(devNull, "r"));
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EMFILE" || code === "ENFILE" ? code : null;
  }
};
