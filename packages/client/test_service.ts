/** A scripted service over real HTTP, and clients that call it. */
import type { ServerResponse } from "node:http";
import { type HttpAnswering, runUntil, startHttpServer } from "@accountlink/test-servers";
import { onTestFinished } from "vitest";
import { type ClientOptions, createClient } from "./mod.ts";

export const key = `alk_${"k".repeat(12)}_${"s".repeat(43)}`;

/** Starts a service that sends the given responses one by one and repeats the last one, and creates its client. */
export const scripted = async (
  answers: ReadonlyArray<HttpAnswering>,
  options: Partial<ClientOptions> = {},
) => {
  let next = 0;
  const answer = () => answers[Math.min(next++, answers.length - 1)] ?? "cut";
  const { url, heard } = await runUntil(onTestFinished)(startHttpServer(answer));
  return { client: createClient({ url, key, ...options }), url, heard };
};

const rateLimit = { limit: 1, remaining: 0, resetAt: null, retryAfter: null, scope: "api_key" } as const;

export const success = (data: unknown, status = 200): HttpAnswering => ({
  status,
  body: { status, data, meta: { requestId: "req_1", version: "2.0.0", rateLimit, tier: "free" } },
});

export const refusal = (
  status: number,
  code: string,
  { details = null, headers = {} }: { details?: unknown; headers?: Readonly<Record<string, string>> } = {},
): HttpAnswering => ({
  status,
  headers,
  body: {
    status,
    error: { code, message: "No", details },
    meta: { requestId: "req_1", version: "2.0.0", rateLimit },
  },
});

/** Makes a response that streams chunks, and then ends, breaks or stays open. */
export const streaming =
  (pieces: ReadonlyArray<string | Uint8Array>, then: "end" | "cut" | "open" = "end"): HttpAnswering =>
  (outgoing: ServerResponse) => {
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    const send = ([piece, ...others]: ReadonlyArray<string | Uint8Array>): void => {
      if (piece !== undefined) outgoing.write(piece, () => setImmediate(send, others));
      else if (then === "end") outgoing.end();
      else if (then === "cut") outgoing.destroy();
    };
    send(pieces);
  };
