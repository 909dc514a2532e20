/**
 * A `Request` of the web, as the application reads it.
 */
import { Effect } from "effect";
import { BodyTooLarge, type HttpRequest } from "../http_request.ts";
import { type HttpResponse, isStream } from "../http_response.ts";

export class WebRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly remoteAddress: string | undefined;
  readonly #request: Request;

  constructor(request: Request, remoteAddress: string | undefined) {
    this.method = request.method;
    this.url = targetOf(request.url);
    this.remoteAddress = remoteAddress;
    this.#request = request;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  readBody(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge> {
    const { body } = this.#request;
    if (body === null) return Effect.succeed(new Uint8Array());
    return Effect.flatMap(
      Effect.promise(() => readAtMost(body, maxBytes)),
      (bytes) => (bytes === null ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)),
    );
  }
}

/** Path and query of an absolute URL. */
const targetOf = (url: string): string => {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.indexOf("#", start);
  return url.slice(start, end === -1 ? undefined : end);
};

/** Reads a body; null for one that is too large. A client that goes away interrupts the request. */
const readAtMost = async (body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | null> => {
  const chunks: Array<Uint8Array<ArrayBuffer>> = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    size += value.length;
    if (size > maxBytes) {
      await reader.cancel();
      return null;
    }
    chunks.push(value as Uint8Array<ArrayBuffer>);
  }
};

/** Makes a `Response` with another body, or with its own where that is whole. */
export const toWebResponse = (
  { status, headers, body }: HttpResponse,
  method: string,
  stream: ReadableStream<Uint8Array> | null,
): Response => {
  const web = headersOf(headers);
  if (stream !== null || isStream(body)) return new Response(stream, { status, headers: web });
  if (method !== "HEAD") return new Response(body as BodyInit | null, { status, headers: web });
  web.set(
    "content-length",
    String(typeof body === "string" ? encoder.encode(body).length : (body?.length ?? 0)),
  );
  return new Response(null, { status, headers: web });
};

const encoder = new TextEncoder();

const headersOf = (headers: HttpResponse["headers"]): Headers => {
  const web = new Headers();
  for (const name in headers) {
    const value = headers[name] as string | ReadonlyArray<string>;
    if (typeof value === "string") web.set(name, value);
    else for (const one of value) web.append(name, one);
  }
  return web;
};
