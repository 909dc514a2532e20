/** Sends requests as a test writes them: follows no redirects and retries nothing. */
import { once } from "node:events";
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** A parsed JSON value without a known type. */
export interface Json {
  readonly [name: string]: Json | undefined;
}

export const textOf = (value: unknown): string => {
  if (typeof value !== "string")
    throw new Error(`Cannot go on: found ${JSON.stringify(value)}, expected a text`);
  return value;
};

/** Reads a value of an answer as a list of objects. */
export const listOf = (value: Json | undefined): ReadonlyArray<Json> =>
  value as unknown as ReadonlyArray<Json>;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body, or an empty object if it is not JSON. */
  readonly body: Json;
}

export interface RequestOptions {
  /** Sent as `Authorization: Bearer …`. */
  readonly key?: string;
  /** The client address, sent as `X-Forwarded-For`; the server must trust this machine as a proxy. */
  readonly from?: string;
  /** Other headers; they override headers of the other options. */
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>;
  /** An object is sent as JSON; a string or bytes are sent unchanged, without a content type. */
  readonly body?: object | string | Uint8Array;
}

/** Sends one request, written as `"GET /v2/chat?chatId=100001"`. */
export type Send = (request: `${string} ${string}`, options?: RequestOptions) => Promise<Answer>;

/**
 * Makes a client of the server at `url`. It keeps connections open for later requests; `close` ends them.
 */
export const makeClient = (url: string): { readonly send: Send; readonly close: () => void } => {
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === "https:";
  const request = isSecure ? secureRequest : plainRequest;
  // With `fifo`, requests use the connections in turn. Otherwise, a connection could be idle for long, and the server
  // might close it just before its next use.
  const options = { keepAlive: true, scheduling: "fifo" } as const;
  // Certificates of tests are self-signed.
  const agent = isSecure
    ? new SecureAgent({ ...options, rejectUnauthorized: false })
    : new PlainAgent(options);

  const send: Send = async (line, given = {}) => {
    const { key, from, headers, body } = given;
    const space = line.indexOf(" ");
    const isJson = typeof body === "object" && !(body instanceof Uint8Array);
    const payload = isJson ? JSON.stringify(body) : body;
    const outgoing = request({
      agent,
      hostname,
      port,
      method: line.slice(0, space),
      path: line.slice(space + 1),
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(from === undefined ? {} : { "x-forwarded-for": from }),
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...(payload === undefined || headers?.["transfer-encoding"] !== undefined
          ? {}
          : { "content-length": Buffer.byteLength(payload) }),
        ...headers,
      },
    });
    // The server may refuse a large body and close the connection while the client is still sending. This is no error.
    outgoing.on("error", () => {});
    outgoing.end(payload);
    const [incoming] = (await once(outgoing, "response").catch((error: NodeJS.ErrnoException) => {
      // The server closed an idle connection while it was used again.
      if (outgoing.reusedSocket && error.code === "ECONNRESET" && line.startsWith("GET ")) return [null];
      throw error;
    })) as [IncomingMessage | null];
    if (incoming === null) return send(line, given);
    const received = decoded(await buffer(incoming), incoming.headers["content-encoding"]);
    return {
      status: incoming.statusCode ?? 0,
      headers: incoming.headers,
      text: received,
      body: parsed(received),
    };
  };

  return { send, close: () => agent.destroy() };
};

const decoded = (bytes: Buffer, encoding: string | undefined): string => {
  // An answer to HEAD has no body, although it names the encoding that the body of a GET would have.
  if (bytes.length === 0) return "";
  if (encoding === "br") return brotliDecompressSync(bytes).toString();
  return encoding === "gzip" ? gunzipSync(bytes).toString() : bytes.toString();
};

const parsed = (received: string): Json => {
  try {
    return JSON.parse(received) as Json;
  } catch {
    return {};
  }
};
