import { expect, vi } from "vitest";
import type { Send } from "./http.ts";
import { patience } from "./patience.ts";

/**
 * Makes a function that waits until the server has exactly `count` open long polls and streams. The count includes
 * those of other tests on the same server.
 */
export const openReads =
  (send: Send, of: "session_reads_open" | "event_readers_waiting") =>
  (count: number): Promise<void> =>
    vi.waitFor(
      async () => expect((await send("GET /metrics")).text).toContain(`\naccountlink_${of} ${count}\n`),
      { ...patience, interval: 10 },
    );
