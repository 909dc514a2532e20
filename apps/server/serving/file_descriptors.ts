/** Detects that the process is out of file descriptors. libuv then closes new connections without an error in Node. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { Effect, Stream } from "effect";

/** Logs when the process is out of file descriptors, and when it recovers. */
export const watchFileDescriptors = Stream.tick("1 second").pipe(
  Stream.map(() => refusalToOpen()),
  Stream.changes,
  Stream.dropWhile((refusal) => refusal === null),
  Stream.runForEach((refusal) =>
    refusal === null
      ? Effect.logInfo("File descriptors are available again")
      : Effect.logError(
          `Out of file descriptors (${refusal}): connections are refused, expected a higher limit (ulimit -n, or LimitNOFILE of systemd)`,
        ),
  ),
);

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
