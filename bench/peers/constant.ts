/** The least that node:http can do: one answer, as long as that to `GET /v2/chat`. */
import { listen } from "./listen.ts";
import type { Serve } from "./ports.ts";

const text = JSON.stringify({ status: 200, data: "x".repeat(380) });
const headers = {
  "content-type": "application/json",
  "content-length": text.length,
  "x-request-id": `req_${"0".repeat(26)}`,
  "cache-control": "no-store",
};

export const serve: Serve = () => listen((_, response) => response.writeHead(200, headers).end(text));
