import { expect } from "vitest";
import type { Answer } from "../support/http.ts";

/** A request with this header kills the server after its writes, when the answer begins. */
export const header = { "x-die-before-the-answer": "1" };
const preloaded = `
  import { ServerResponse } from "node:http";
  const { writeHead } = ServerResponse.prototype;
  ServerResponse.prototype.writeHead = function (...head) {
    if (this.req.headers["x-die-before-the-answer"] === "1") process.kill(process.pid, "SIGKILL");
    return writeHead.apply(this, head);
  };`;
export const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloaded)}` };

export const expectNoAnswer = async (request: Promise<Answer> | undefined): Promise<void> => {
  const [{ status }] = await Promise.allSettled([request]);
  expect(status).toBe("rejected");
};
