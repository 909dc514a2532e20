/**
 * Running out of file descriptors, which nothing else tells: libuv closes the connections that it cannot accept before
 * Node hears of them.
 */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { Effect, Schedule } from "effect";

/** Logs when the process can open nothing more, and when it can again. */
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
      : Effect.logInfo("There are file descriptors again");
  });
  return Effect.repeat(look, Schedule.spaced("1 second"));
});

/** Why nothing can be opened, of the process (`EMFILE`) or the machine (`ENFILE`); null when it can. */
const refusalToOpen = (): string | null => {
  try {
    closeSync(openSync(devNull, "r"));
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EMFILE" || code === "ENFILE" ? code : null;
  }
};
