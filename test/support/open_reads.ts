import { expect, vi } from "vitest";
import type { Send } from "./http.ts";
import { patience } from "./patience.ts";

/** Waits until a server has this number of open long polls and streams, over all tests of the file. */
export const openReads =
  (send: Send, of: "session_reads_open" | "event_readers_waiting") =>
  (count: number): Promise<void> =>
    vi.waitFor(
      async () => expect((await send("GET /metrics")).text).toContain(`\naccountlink_${of} ${count}\n`),
      { ...patience, interval: 10 },
    );
