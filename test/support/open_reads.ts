import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import type { Send } from "./http.ts";

/**
 * Makes a function that waits until the server has exactly `count` open long polls and streams. The count includes
 * the reads of other tests on the same server.
 */
export const openReads =
  (send: Send, of: "session_reads_open" | "event_readers_waiting") =>
  (count: number): Promise<void> =>
    eventually(
      async () => expect((await send("GET /metrics")).text).toContain(`\naccountlink_${of} ${count}\n`),
      { interval: 25 },
    );
